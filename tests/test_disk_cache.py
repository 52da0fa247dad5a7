"""Code kept on disk is executed only from folders that nobody else can write to, if undamaged, and within a limit."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from pathlib import Path
from types import SimpleNamespace

import pytest

from dromos import disk_cache
from dromos.codegen import load
from dromos.codegen.cache import write
from dromos.disk_cache import limit_bytes, places, read, save, trim
from dromos.errors import FileError, InvalidArgumentError

pytestmark = pytest.mark.skipif(not hasattr(os, "geteuid"), reason="owners and modes are those of POSIX")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("DROMOS_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "home"))
    monkeypatch.setattr(sys, "platform", "linux")
    return tmp_path / "cache"


def read_only(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    """Make a folder read-only, as for a user who is not root."""
    monkeypatch.setattr(os, "access", lambda path, *_, **__: Path(path) != folder)


# ---- the owner of the folder ---------------------------------------------------------------------------------------


def test_a_new_folder_is_private(folder: Path) -> None:
    assert places() == (None, folder)
    assert folder.stat().st_mode & 0o777 == 0o700


@pytest.mark.parametrize("mode", [0o777, 0o770, 0o1777, 0o702])
def test_a_folder_that_others_may_write_to_is_refused(folder: Path, mode: int) -> None:
    folder.mkdir()
    folder.chmod(mode)
    for use in (lambda: load("x = 1\n"), lambda: read("kernels/a"), lambda: save("kernels/a", b"")):
        with pytest.raises(FileError, match=r"others may write to it \(mode .*DROMOS_CACHE_DIR") as caught:
            use()
        assert caught.value.path == str(folder)
    assert list(folder.iterdir()) == []


def test_a_folder_of_another_user_is_refused(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    owner = os.geteuid()
    folder.mkdir(mode=0o755)
    monkeypatch.setattr(os, "geteuid", lambda: owner + 4242)
    with pytest.raises(FileError, match=f"belongs to another user \\(uid {owner}, you are {owner + 4242}\\)"):
        load("x = 1\n")


@pytest.mark.parametrize(
    ("owner", "mode", "writable", "trusted"),
    [
        (7, 0o700, True, True),
        (7, 0o755, True, True),
        (7, 0o775, True, False),
        (7, 0o757, True, False),
        (8, 0o755, False, False),
        (8, 0o755, True, False),
        (0, 0o755, False, True),
        (0, 0o755, True, False),  # by an access list: then others may be able to write as well
        (0, 0o777, True, False),
    ],
)
def test_who_is_trusted(owner: int, mode: int, writable: bool, trusted: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 7)
    status = SimpleNamespace(st_uid=owner, st_mode=0o40000 | mode)
    assert (disk_cache._why_untrusted(status, writable) == "") == trusted  # type: ignore[arg-type]


def test_a_folder_that_is_read_only_is_read_and_the_users_own_is_written(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = write("x = 1\n", "demo")
    save("kernels/old", b"old")
    read_only(monkeypatch, folder)
    assert places() == (folder, tmp_path / "home" / "dromos")
    assert write("x = 1\n", "demo") == made
    assert write("x = 2\n", "demo").parent == tmp_path / "home" / "dromos"
    save("kernels/new", b"new")
    assert (read("kernels/old"), read("kernels/new")) == (b"old", b"new")
    assert sorted(path.name for path in (folder / "kernels").iterdir()) == ["old"]


def test_the_users_own_folder_has_to_be_writable(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("DROMOS_CACHE_DIR")
    read_only(monkeypatch, tmp_path / "home" / "dromos")
    with pytest.raises(FileError, match="set DROMOS_CACHE_DIR to one that can"):
        places()


# ---- its contents --------------------------------------------------------------------------------------------------


def test_what_is_damaged_is_not_there(folder: Path) -> None:
    save("kernels/a", b"machine code")
    assert read("kernels/a") == b"machine code"
    path = folder / "kernels" / "a"
    whole = path.read_bytes()
    for data in (whole[:-1], whole + b"x", b"x" + whole[1:], whole[:-1] + b"x", b""):
        path.write_bytes(data)
        assert read("kernels/a") is None


def test_a_file_that_others_may_write_to_is_not_read(folder: Path) -> None:
    save("kernels/a", b"machine code")
    (folder / "kernels" / "a").chmod(0o666)
    assert read("kernels/a") is None


def test_a_module_is_run_from_its_text_and_not_from_bytecode_beside_it(folder: Path) -> None:
    path = write("answer = 1\n", "demo")
    wrong = path.with_name("wrong.py")
    wrong.write_text("answer = 2\n")
    os.utime(wrong, ns=(path.stat().st_atime_ns, path.stat().st_mtime_ns))
    import py_compile
    from importlib.util import cache_from_source

    py_compile.compile(str(wrong), cfile=cache_from_source(str(path)))  # same size, same time
    assert load("answer = 1\n", "demo").answer == 1


# ---- its size ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "expected"), [("", 1 << 30), ("1000", 1000), ("2K", 2048), ("1.5MiB", 3 << 19), ("3gb", 3 << 30), ("0", 0)]
)
def test_limits(text: str, expected: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DROMOS_CACHE_LIMIT", text)
    assert limit_bytes() == expected


@pytest.mark.parametrize("text", ["many", "-1", "nan", "1e300", "K"])
def test_what_is_no_limit(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DROMOS_CACHE_LIMIT", text)
    with pytest.raises(InvalidArgumentError, match=r"DROMOS_CACHE_LIMIT=.* is not a size"):
        limit_bytes()


def test_what_was_not_used_for_longest_goes_first(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for age in range(10):
        save(f"kernels/{age}", bytes(968))  # 1000 with the digest
        os.utime(folder / "kernels" / str(age), (10**9 - age, 10**9 - age))
    assert read("kernels/9") is not None  # used: now the most recent
    monkeypatch.setenv("DROMOS_CACHE_LIMIT", "10000")
    assert trim(folder) == 0
    monkeypatch.setenv("DROMOS_CACHE_LIMIT", "5000")
    assert trim(folder) == 6000
    assert sorted(path.name for path in (folder / "kernels").iterdir()) == ["0", "1", "2", "9"]


def test_writing_keeps_the_folder_within_its_limit(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DROMOS_CACHE_LIMIT", "10000")
    monkeypatch.setattr(disk_cache, "_TRIM_EVERY", 1)
    for number in range(30):
        save(f"kernels/{number}", bytes(968))
        assert sum(path.stat().st_size for path in folder.rglob("*") if path.is_file()) <= 10000
    assert read("kernels/29") is not None


def test_several_may_clean_up_and_write_at_once(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DROMOS_CACHE_LIMIT", "20000")
    monkeypatch.setattr(disk_cache, "_TRIM_EVERY", 1)
    errors: list[BaseException] = []

    def work(who: int) -> None:
        try:
            for number in range(40):
                save(f"kernels/{number}", bytes([number]) * 900)
                assert read(f"kernels/{number}") in (None, bytes([number]) * 900)
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=work, args=(who,)) for who in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []
    assert not [path for path in folder.rglob(".*") if path.is_file()]


def test_a_kernel_that_is_on_disk_is_loaded_without_the_compiler(folder: Path) -> None:
    script = folder.parent / "script.py"
    script.write_text(
        """
import numpy as np
from dromos.compiler import machine
from dromos.jit import kernel

@kernel
def double(thread, threads, values):
    for place in range(thread, values.size, threads):
        values[place] *= 2

if __name__ == "__main__":
    from dromos.parallel import run_team

    prepared = machine._llvm().create_pass_builder
    compiled = []
    machine._llvm().create_pass_builder = lambda *args: compiled.append(1) or prepared(*args)
    values = np.arange(4)
    run_team(double, values, threads=1)
    print(values.tolist(), len(compiled))
    double(0, 1, values)  # the form for Python
    print(values.tolist(), len(compiled))
"""
    )
    told = [
        subprocess.run([sys.executable, str(script)], capture_output=True, text=True, timeout=300, check=True).stdout
        for _ in range(2)
    ]
    assert told == ["[0, 2, 4, 6] 1\n[0, 4, 8, 12] 2\n", "[0, 2, 4, 6] 0\n[0, 4, 8, 12] 0\n"]
