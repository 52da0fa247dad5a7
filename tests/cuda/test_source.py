"""The CUDA text of programs: held by snapshots, and what it says about types, names and missing devices."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

import dromos as dr
import dromos.program as dp
from dromos.algorithms.bfs import BFS
from dromos.algorithms.pagerank import pagerank_program
from dromos.algorithms.sssp import bellman_ford_program, sssp_program
from dromos.codegen.cuda import hooks_text
from dromos.engines.cuda import CudaOptions, why_unavailable
from dromos.engines.cuda.layout import arguments_type, control_type
from dromos.engines.cuda.modules import kernel_for, kernels_of
from dromos.errors import DeviceError, MissingDependencyError
from dromos.plan import Path as ExecutionPath
from dromos.program import GraphTypes, analyse
from tests.cuda.every_program import typed_programs
from tests.program.programs import Handing

SNAPSHOTS = Path(__file__).with_name("snapshots")
INT, FLOAT = np.dtype(np.int32), np.dtype(np.float32)
HELD = {
    "bfs": BFS.typed(GraphTypes(INT)),
    "sssp": sssp_program(INT).typed(GraphTypes(INT, INT)),
    "bellman_ford": bellman_ford_program(np.dtype(np.float64)).typed(GraphTypes(INT, FLOAT)),
    "pagerank": pagerank_program().typed(GraphTypes(INT)),
}


@pytest.mark.parametrize("name", HELD)
def test_the_text_is_the_one_held(name: str) -> None:
    """After a change that is meant: ``DROMOS_UPDATE_SNAPSHOTS=1 pytest tests/cuda/test_source.py``."""
    text = hooks_text(HELD[name], analyse(HELD[name]))
    file = SNAPSHOTS / f"{name}.cu"
    if os.environ.get("DROMOS_UPDATE_SNAPSHOTS"):
        file.write_text(text)
    assert text == file.read_text()


def test_every_algorithm_has_programs() -> None:
    names = {typed.ir.name for typed in typed_programs()}
    assert {"BFS", "SSSP", "BellmanFord", "Paths", "Dependencies", "LevelDependencies", "Peel"} <= names


def test_the_kernel_of_a_path() -> None:
    typed = HELD["bfs"]
    facts = analyse(typed)
    assert kernel_for(ExecutionPath(), typed, facts, claimed=True).skeleton == "claiming"
    assert kernel_for(ExecutionPath(), typed, facts).skeleton == "supersteps"
    assert kernel_for(ExecutionPath("sync", "pull", "td"), typed, facts).pull
    weighted = HELD["sssp"]
    assert kernel_for(ExecutionPath("async"), weighted, analyse(weighted)).skeleton == "ordered"
    ranks = HELD["pagerank"]
    assert kernel_for(ExecutionPath("sync", "pull", "td"), ranks, analyse(ranks)).by_source
    for_ever = Handing.typed(GraphTypes(INT, FLOAT))
    assert kernel_for(ExecutionPath("async"), for_ever, analyse(for_ever)).skeleton == "supersteps"


@pytest.mark.parametrize("typed", typed_programs(), ids=lambda typed: typed.ir.name)
def test_records_are_laid_out_as_c_does(typed: dp.TypedProgram) -> None:
    """Members are aligned to their own size, and records fit a kernel's parameters."""
    record = arguments_type(typed)
    assert record.itemsize <= 4096
    assert record.itemsize % 8 == 0
    for part in (record, control_type(typed)):
        for name, (dtype, offset, *_) in (part.fields or {}).items():
            assert offset % dtype.base.alignment == 0, name
    assert kernels_of(typed, analyse(typed))


def test_names_of_the_language_are_no_trouble() -> None:
    class Awkward(dp.Program):
        double = dp.field(np.float64, init=0.0)
        template = dp.param(int, 1)
        combine = dp.SUM

        @dp.reduction(dp.SUM)
        def register(self, v):  # type: ignore[no-untyped-def]
            return v.double

        def compute(self, u, edge, v):  # type: ignore[no-untyped-def]
            return u.double + self.template

        def update(self, v, message):  # type: ignore[no-untyped-def]
            return message

        def active(self, old, new):  # type: ignore[no-untyped-def]
            return False

    nvrtc = pytest.importorskip("dromos.engines.cuda.compiler")
    pytest.importorskip("cupy_backends.cuda.libs.nvrtc", reason="CuPy's compiler is not installed")
    typed = Awkward.typed(GraphTypes())
    text = hooks_text(typed, analyse(typed)) + '#include "supersteps.cuh"\n'
    defines = ("PULL=0", "TOPOLOGY=0", "BY_SOURCE=0", "ASYNC=0", "RENAMED=0")
    assert nvrtc.compile_cubin(text, "awkward", arch="sm_90", defines=defines)


def test_a_kernel_that_does_not_compile_names_its_program() -> None:
    pytest.importorskip("cupy_backends.cuda.libs.nvrtc", reason="CuPy's compiler is not installed")
    from dromos.engines.cuda.compiler import compile_cubin

    with pytest.raises(DeviceError, match=r"the CUDA source of Mine does not compile for sm_90[\s\S]*nonsense"):
        compile_cubin("nonsense", "Mine", arch="sm_90")


@pytest.mark.skipif(not why_unavailable(), reason="there is a GPU")
def test_without_a_gpu() -> None:
    graph = dr.generators.path(3)
    with pytest.raises((DeviceError, MissingDependencyError), match=r"device='cuda': .* or use device='cpu'"):
        dr.bfs(graph, 0, device="cuda")
    assert dr.bfs(graph, 0).device == "cpu"  # auto


def test_options_are_checked_by_name() -> None:
    with pytest.raises(TypeError, match="unexpected keyword"):
        CudaOptions(colour="red")  # type: ignore[call-arg]
