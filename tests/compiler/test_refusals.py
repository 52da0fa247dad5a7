"""What the compiler does not know is an error that says where and why."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import pytest

from dromos.compiler import LoweringError, machine
from dromos.errors import DromosError, MissingDependencyError
from dromos.parallel import run_team
from tests.compiler import refused_kernels

REFUSED = {
    "makes_an_array": "makes_an_array: 'np.empty(4, np.int64)': no such function",
    "raises": "raises: \"raise ValueError('too large')\": no Raise",
    "makes_a_list": "makes_a_list: '[out[0], 1]': no List",
    "of_two_types": "of_two_types: 'value = 1.5': value is of two types, i64 and f64",
    "inverts_a_truth": "inverts_a_truth: 'value = 6': value is of two types, b and i64",
    "whole_arrays": "whole_arrays: 'out + 1': an operator between these types",
    "returns_an_array": "a kernel returns something other than numbers",
    "returns_at_times": "returns_at_times returns a value on some paths only",
    "reads_too_early": "reads_too_early: later is read before it is written",
    "by_name": "by_name: 'max(a=1, b=2)': arguments by name",
    "with_text": "with_text: 'NAME': no number of the module",
    "of_arrays": "of_arrays: 'np.sum(out)': no such function",
    "no_such_attribute": "no_such_attribute: 'out.mean': no such attribute",
    "assigns_a_slice": "assigns_a_slice: '1:3': no Slice",
    "slice_with_a_step": "slice_with_a_step: '::2': no Slice",
    "numbers_by_or": "numbers_by_or: 'out[0]': and, or between numbers",
    "unknown": "unknown: 'missing(out)': no such function",
    "tries": "tries: 'try:': no Try",
    "comprehends": "comprehends: 'sum((x for x in out))': no such function",
    "atomic_of_a_number": "atomic_of_a_number: 'atomic_add(5, 0, 1)': an atomic on something other than an array",
    "calls_what_is_wrong": "wrong_part: 'return out[0] ** 2': no Pow of i64 and i64",
    "endless": "endless calls itself",
    "too_few": "too_few: 'return of_two(out[0])': of_two takes 2 arguments, not 1",
    "defaults": "defaults takes its arguments in an unusual way",
    "breaks_in_a_tuple": "breaks_in_a_tuple: 'for part in (1, 2):': break and continue in a loop over a tuple",
    "parts_that_are_not_there": "parts_that_are_not_there: '(first, second)': not as many values as names",
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_not_known_is_refused(name: str) -> None:
    kernel: Any = getattr(refused_kernels, name)
    out = np.zeros(4, np.int64)
    for _ in range(2):  # no half of it stays behind
        with pytest.raises(LoweringError) as caught:
            kernel(out)
        assert str(caught.value).startswith(f"the kernel {name!r} cannot be compiled: ")
        assert REFUSED[name] in str(caught.value)
    assert not out.any()


def test_every_kernel_of_the_module_is_listed() -> None:
    kernels = [name for name, value in vars(refused_kernels).items() if type(value).__name__ == "Kernel"]
    assert sorted(kernels) == sorted(REFUSED)


def test_a_team_is_told_the_same() -> None:
    with pytest.raises(DromosError, match="'of_two' cannot be compiled: of_two takes 4 arguments, not 5"):
        run_team(refused_team_kernel(), 1, 2, 3, threads=2)


def refused_team_kernel() -> Any:
    from dromos.jit import kernel

    @kernel
    def of_two(thread, threads, a, b):  # type: ignore[no-untyped-def]
        """Takes two arguments beside its place in the team."""

    return of_two


def test_a_function_without_a_file_is_refused() -> None:
    from dromos.jit import kernel

    names: dict[str, Any] = {}
    exec("def f(x):\n    return x", names)
    with pytest.raises(LoweringError, match="'f' cannot be compiled: the source of <string> cannot be read"):
        kernel(names["f"])(1)


def test_an_old_llvm_and_none_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    import llvmlite.binding

    monkeypatch.setattr(llvmlite.binding, "llvm_version_info", (15, 0, 7))
    with pytest.raises(MissingDependencyError, match=r"it has LLVM 15\.0\.7: pip install 'dromos\[compiler\]'"):
        machine._llvm.__wrapped__()
    monkeypatch.setitem(sys.modules, "llvmlite.binding", None)
    with pytest.raises(MissingDependencyError, match=r"needs llvmlite: pip install 'dromos\[compiler\]'"):
        machine._llvm.__wrapped__()
