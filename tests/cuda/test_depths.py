"""What the checks of compilation find at each depth: none of them passes whatever it is given."""

from __future__ import annotations

import pytest

from dromos.engines.cuda import compiler
from dromos.errors import DeviceError
from tests.cuda.assembling import Assembled
from tests.cuda.compiling import Depth, compiles

pytest.importorskip("cupy_backends.cuda.libs.nvrtc", reason="CuPy's compiler is not installed")

KERNEL = 'extern "C" __device__ int elsewhere(int); extern "C" __global__ void kernel(int* a) {{ {} }}'
UNKNOWN_NAME, FALSE_ASSERTION = "a[0] = b;", 'static_assert(sizeof(int) == 8, "eight bytes");'
NEWER_FUNCTION = "a[0] = __clusterRelativeBlockRank();"
NEWER_INSTRUCTION, NO_INSTRUCTION = 'asm volatile("barrier.cluster.arrive;");', 'asm volatile("frobnicate.u32;");'
TOO_MUCH_SHARED = "__shared__ int x[20000]; x[threadIdx.x] = *a; __syncthreads(); *a = x[*a];"
NOT_DEFINED = "a[0] = elsewhere(1);"
PARSER = [UNKNOWN_NAME, FALSE_ASSERTION]
COMPILED = [depth for depth in Depth if depth is not Depth.AS_ELSEWHERE]
ASSEMBLER = [NO_INSTRUCTION, TOO_MUCH_SHARED, NOT_DEFINED]


def compiled(body: str, arch: str, depth: Depth) -> bool:
    return compiles(KERNEL.format(body), "mine", arch=arch, defines=(), depth=depth)


@pytest.mark.parametrize("depth", Depth)
def test_a_source_without_faults_compiles(depth: Depth) -> None:
    assert compiled("a[0] = 1;", "sm_80", depth)


@pytest.mark.parametrize("body", PARSER)
@pytest.mark.parametrize("depth", COMPILED)
def test_every_depth_finds_what_the_parser_does(body: str, depth: Depth) -> None:
    with pytest.raises(DeviceError, match="mine does not compile"):
        compiled(body, "sm_90", depth)


def test_no_source_asks_which_architecture_it_is_for() -> None:
    """Or another part of it would have to be compiled for each."""
    for name, text in compiler.headers().items():
        assert "__CUDA_ARCH__" not in text, name
    for depth in Depth:
        assert not compiled("a[0] = __CUDA_ARCH__;", "sm_90", depth)


@pytest.mark.parametrize("body", ASSEMBLER)
@pytest.mark.parametrize("depth", [Depth.GENERATED, Depth.ASSEMBLED, Depth.OPTIMISED])
def test_machine_code_needs_more(body: str, depth: Depth) -> None:
    with pytest.raises(DeviceError, match="ptxas"):
        compiled(body, "sm_90", depth)


@pytest.mark.parametrize("body", [NEWER_FUNCTION, NEWER_INSTRUCTION])
def test_what_one_architecture_does_not_have(body: str) -> None:
    assert compiled(body, "sm_90", Depth.ASSEMBLED)
    with pytest.raises(DeviceError, match="mine does not compile"):
        compiled(body, "sm_80", Depth.ASSEMBLED)


@pytest.mark.parametrize(
    ("fine", "wrong"),
    [
        ('asm("mov.u32 %0, 1;" : "=r"(a[0]));', 'asm("mov.u64 %0, 1;" : "=r"(a[0]));'),
        ('asm("mov.u32 %0, 1;" : "=r"(a[0]));', 'long long b; asm("mov.u32 %0, 1;" : "=l"(b)); a[0] = b;'),
        ('asm("mov.u32 %0, %%laneid;" : "=r"(a[0]));', 'asm("mov.u32 %0, %%laneids;" : "=r"(a[0]));'),
        ("__shared__ int x[9]; x[threadIdx.x] = *a; __syncthreads(); *a = x[*a];", TOO_MUCH_SHARED),
    ],
)
def test_what_is_like_an_assembled_source_is_still_judged(fine: str, wrong: str) -> None:
    """The assembler is asked again for another operand, another name of the machine's own, and more memory."""
    assert compiled(fine, "sm_80", Depth.ASSEMBLED)
    with pytest.raises(DeviceError, match="ptxas"):
        compiled(wrong, "sm_80", Depth.GENERATED)


def test_more_parameters_than_a_kernel_may_have() -> None:
    text = 'struct Many {{ int a[{}]; }}; extern "C" __global__ void kernel(Many m, int* a) {{ a[0] = m.a[a[1]]; }}'
    assert compiles(text.format(100), "mine", arch="sm_80", defines=(), depth=Depth.ASSEMBLED)
    assert compiles(text.format(101), "mine", arch="sm_80", defines=(), depth=Depth.GENERATED)
    with pytest.raises(DeviceError, match="mine does not compile"):
        compiles(text.format(20_000), "mine", arch="sm_80", defines=(), depth=Depth.GENERATED)


def test_a_source_of_known_forms_is_not_assembled() -> None:
    found = Assembled()
    line = b"\t@%p3 ld.global.u32 %r17, [%rd4+16]; // near\n"
    assert not found.judges(line)
    found.add(line)
    assert found.judges(line.replace(b"17", b"8").replace(b"16", b"-4").replace(b"near", b"far"))
    assert not found.judges(line.replace(b"u32", b"u64"))
    assert not found.judges(line.replace(b"%r1", b"%rd1"))
