"""Settings for all tests: the same examples in every run, and no deadline, since a first call compiles kernels."""

from __future__ import annotations

import gc
import os
import signal
from collections.abc import Generator
from pathlib import Path
from unittest.mock import patch

import pytest
from _pytest.doctest import DoctestModule
from hypothesis import settings

from dromos.compiling import note_kernels_are_loaded
from dromos.graph import build_small

settings.register_profile("dromos", deadline=None, derandomize=True, print_blob=True)
settings.load_profile("dromos")

# NumPy and SciPy start threads for their linear algebra in every process, which take 0.1 s of processor time each; no
# test multiplies matrices large enough to need them. The processes that tests start inherit this.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

note_kernels_are_loaded()  # else NumPy would build small graphs, and the kernels would go untested

# A shell starts a background command with SIGINT ignored; Python keeps that, and no test of Ctrl-C would end.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skip tests that need a GPU if there is none, with the reason."""
    on_gpu = [item for item in items if item.get_closest_marker("gpu")]
    if not on_gpu:
        return
    from dromos.engines.cuda.availability import why_unavailable

    if reason := why_unavailable():
        for item in on_gpu:
            item.add_marker(pytest.mark.skip(reason=reason))


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Build the small graphs of test modules with NumPy: every worker imports all modules, and each would compile."""
    with patch.object(build_small, "is_preferred", lambda edges: edges <= build_small._SMALL):
        return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_collect_file(file_path: Path) -> Generator[None, list[pytest.Collector], list[pytest.Collector]]:
    """Look for doctests only in files that have some: a test module would be searched name by name."""
    found = yield
    if file_path.suffix == ".py" and ">>>" not in file_path.read_text(encoding="utf-8"):
        return [collector for collector in found if not isinstance(collector, DoctestModule)]
    return found


def pytest_collection_finish() -> None:
    """Hide collected objects from the garbage collector, which traverses them repeatedly while kernels compile."""
    gc.collect()
    gc.freeze()


@pytest.fixture
def no_collections() -> Generator[None]:
    """For tests that receive Ctrl-C: a callback of the garbage collector, such as Hypothesis's, would swallow it."""
    gc.disable()
    yield
    gc.enable()
