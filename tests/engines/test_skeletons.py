"""The table that says which skeleton runs a program: complete, true of both engines, and in the right order."""

from __future__ import annotations

import inspect
import re
from importlib import import_module
from pathlib import Path as File

import pytest

from dromos.engines.cpu.skeletons import FOLDER, constants
from dromos.engines.cuda import compiler
from dromos.engines.skeletons import TABLE, Form, skeleton_for
from dromos.plan import PATHS, Path

KERNELS = File(compiler.__file__).parent / "kernels"


def test_every_path_of_a_program_without_a_form_is_served() -> None:
    for path in PATHS:
        assert skeleton_for(path, frozenset({"any"})) == ("supersteps" if path.sync == "sync" else "asynchronous")


def test_a_skeleton_is_a_module_on_the_cpu_and_a_file_on_cuda() -> None:
    for row in TABLE:
        assert (FOLDER / f"{row.skeleton}.py").is_file()
        # offers are pulled by the supersteps of a GPU
        assert (KERNELS / f"{row.skeleton}.cuh").is_file() or row.skeleton == "offering"


@pytest.mark.parametrize(
    "name", ["common", "offering", "claiming", "claiming_rows", "claiming_words", "ordered", "claiming_slices"]
)
def test_numbers_are_read_from_the_text_of_a_skeleton_as_it_has_them(name: str) -> None:
    module = import_module(f"dromos.engines.cpu.skeletons.{name}")
    known = {key: value for key, value in vars(module).items() if key.isupper() and type(value) is int}
    own = [
        key for key in known if re.search(rf"^[A-Z_, ]*\b{key}\b[A-Z_, ]* = ", inspect.getsource(module), re.MULTILINE)
    ]
    assert constants(name, *own) == tuple(known[key] for key in own)
    assert own


def test_rows_name_paths() -> None:
    known = {str(path) for path in PATHS}
    assert all(set(row.paths) <= known for row in TABLE)


@pytest.mark.parametrize(
    ("path", "forms", "skeleton"),
    [
        ("sync-push-dd", {"claimed", "ordered"}, "claiming"),
        ("sync-push-td", {"claimed"}, "supersteps"),
        ("async-push-dd", {"claimed", "ordered"}, "ordered"),
        ("async-push-td", {"ordered"}, "asynchronous"),
        ("sync-pull-dd", {"offered", "claimed"}, "claiming"),
        ("async-pull-dd", {"offered"}, "asynchronous"),
        ("async-pull-dd", {"offered", "offered in place"}, "offering"),
    ],
)
def test_the_special_comes_before_the_general(path: str, forms: set[Form], skeleton: str) -> None:
    assert skeleton_for(Path.parse(path), frozenset(forms | {"any"})) == skeleton
