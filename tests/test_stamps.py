"""Machine code on disk is reused while everything it was made from is unchanged, and not after."""

from __future__ import annotations

import os
import subprocess
import sys

from dromos import stamps
from dromos.compiler import kept

SCRIPT = """
import sys
sys.path.insert(0, {folder!r})
from dromos import stamps
from pathlib import Path
stamps._PACKAGE = Path({folder!r})  # where modules of the package are looked for
import kernels
from dromos.compiler import kept
texts = []
compile_text = kept.object_code
kept.object_code = lambda text, **how: texts.append(text) or compile_text(text, **how)
print(kernels.answer(), 1 - len(texts))
"""


def run(folder):
    environment = {**os.environ, "DROMOS_CACHE_DIR": str(folder / "cache")}
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT.format(folder=str(folder))],
        capture_output=True, text=True, check=True, env=environment,
    )  # fmt: skip
    value, hits = done.stdout.split()
    return int(value), int(hits)


def test_a_kernel_is_compiled_again_when_what_it_imports_has_changed(tmp_path):
    (tmp_path / "kernels.py").write_text(
        "import helper\nfrom dromos.jit import kernel\nif 0:\n    pass\n"
        "part = helper.part\n\n\n@kernel\ndef answer():\n    return part()\n\n\n"
        "'''\nfrom dromos.helper import part\n'''\n"  # as the package's own modules write it
    )
    helper = "from dromos.jit import inline\n\n\n@inline\ndef part():\n    return {}\n"
    (tmp_path / "helper.py").write_text(helper.format(41))
    assert run(tmp_path) == (41, 0)
    assert run(tmp_path) == (41, 1)
    (tmp_path / "helper.py").write_text(helper.format(42))
    assert run(tmp_path) == (42, 0)
    assert run(tmp_path) == (42, 1)
    assert len(list((tmp_path / "cache" / "kernels").iterdir())) == 2
    for file in (tmp_path / "cache" / "kernels").iterdir():
        data = bytearray(file.read_bytes())
        data[len(data) // 2] ^= 1
        file.write_bytes(data)
    assert run(tmp_path) == (42, 0)  # damaged machine code is not run
    assert run(tmp_path) == (42, 1)


def test_all_that_a_module_imports_counts(tmp_path, monkeypatch):
    monkeypatch.setattr(stamps, "_PACKAGE", tmp_path)
    (tmp_path / "engines").mkdir()
    first, second, third = tmp_path / "first.py", tmp_path / "engines" / "second.py", tmp_path / "third.py"
    first.write_text("from dromos.engines import (\n    second,\n)\nimport numpy\n")
    second.write_text("import dromos.third\n")

    def digest(text):
        third.write_text(text)
        stamps.source_digest.cache_clear()
        return stamps.source_digest(str(first))

    assert digest("x = 1\n") == digest("x = 1\n") != digest("x = 2\n")


def test_the_packages_own_kernels_are_stamped(monkeypatch):
    from dromos.engines.native import joint_kernels

    asked = []

    def note(file):
        asked.append(file)
        return b"stamp of the file"

    function = joint_kernels.traverse.function
    wanted = kept.Wanted(function, (), for_team=True)
    before = wanted.key()
    monkeypatch.setattr(kept, "source_digest", note)
    assert before != wanted.key()
    assert asked == [joint_kernels.__file__]
