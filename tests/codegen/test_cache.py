"""Generated modules on disk: whole or not at all, and only rewritten when they must be."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from dromos.codegen import cache_folder, load
from dromos.codegen.cache import write
from dromos.errors import FileError


def test_the_name_is_the_hash_of_the_text(tmp_path):
    one, other = write("x = 1\n", "demo", tmp_path), write("x = 2\n", "demo", tmp_path)
    assert one != other
    assert write("x = 1\n", "demo", tmp_path) == one
    assert sorted(tmp_path.iterdir()) == sorted([one, other])


def test_a_file_that_is_there_keeps_its_time_stamp(tmp_path):
    path = write("x = 1\n", "demo", tmp_path)
    os.utime(path, ns=(1, 1))
    write("x = 1\n", "demo", tmp_path)
    assert path.stat().st_mtime_ns == 1


def test_a_damaged_file_is_replaced(tmp_path):
    path = write("x = 1\n", "demo", tmp_path)
    path.write_text("x =")
    assert write("x = 1\n", "demo", tmp_path).read_text() == "x = 1\n"


def test_the_same_text_is_the_same_module(tmp_path):
    module = load("items = []\n", "demo", tmp_path)
    assert load("items = []\n", "demo", tmp_path) is module
    assert module.__name__ in sys.modules


def test_a_module_that_does_not_import_leaves_nothing_behind(tmp_path):
    before = set(sys.modules)
    with pytest.raises(ZeroDivisionError):
        load("1 / 0\n", "demo", tmp_path)
    assert set(sys.modules) == before


def test_threads_may_load_at_once(tmp_path):
    found = []
    threads = [threading.Thread(target=lambda: found.append(load("y = 3\n", "demo", tmp_path))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len({id(module) for module in found}) == 1
    assert len(list(tmp_path.glob("*.py"))) == 1


def test_odd_names_become_identifiers(tmp_path):
    assert write("", "<locals>.Größe", tmp_path).stem.startswith("_locals__Gr__e_")


def test_a_folder_that_cannot_be_written_is_an_error_with_the_mend(tmp_path):
    blocked = tmp_path / "file"
    blocked.write_text("")
    with pytest.raises(FileError, match="set DROMOS_CACHE_DIR to a folder"):
        write("x = 1\n", "demo", blocked / "inside")


@pytest.mark.parametrize(
    ("variable", "value", "expected"),
    [("DROMOS_CACHE_DIR", "/somewhere", "/somewhere"), ("XDG_CACHE_HOME", "/caches", "/caches/dromos")],
)
@pytest.mark.skipif(sys.platform != "linux", reason="the folder is the platform's")
def test_where_the_folder_is(monkeypatch, variable, value, expected):
    monkeypatch.delenv("DROMOS_CACHE_DIR", raising=False)
    monkeypatch.setenv(variable, value)
    assert cache_folder() == Path(expected)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system cannot fork")
def test_a_child_loads_what_another_thread_was_loading_when_it_was_forked(tmp_path):
    script = f"""
import os, sys, threading, time
from pathlib import Path
from dromos.codegen import load
sys.slow = True
text = "import sys, time\\nif sys.slow: time.sleep(20)\\nanswer = 42\\n"
threading.Thread(target=load, args=(text, "slow", Path({str(tmp_path)!r})), daemon=True).start()
while not any(name.startswith("dromos_generated_slow") for name in sys.modules):
    time.sleep(0.01)
child = os.fork()
if child == 0:
    sys.slow = False
    os._exit(load(text, "slow", Path({str(tmp_path)!r})).answer)
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
os._exit(0)
"""
    found = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=True)
    assert found.stdout.strip() == "42"
