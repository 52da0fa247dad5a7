"""Object files are loaded without LLVM: what they hold, what they call, and what is wrong with them."""

from __future__ import annotations

import ctypes
import math
import platform
import struct
import sys

import pytest

from dromos.compiler import machine
from dromos.compiler.levels import Level, levels, own_level
from dromos.compiler.loading import UnknownObjectError, can_load, load_object
from dromos.compiler.machine import compiling_for, object_code

pytestmark = pytest.mark.skipif(not can_load(), reason="object files of this system are left to LLVM")

CALLS = """
@table = private constant [4 x double] [double 1.0, double 2.5, double 4.0, double 8.0]
declare double @pow(double, double)
declare double @atan(double)
define double @power(i64 %at) {
  %place = getelementptr [4 x double], ptr @table, i64 0, i64 %at
  %base = load double, ptr %place
  %first = call double @pow(double %base, double 3.0)
  %second = call double @atan(double %first)
  ret double %second
}
define double @other(double %x) { %y = fadd double %x, 0x3FB999999999999A ret double %y }
"""


def _function(address: int, result: type, *arguments: type) -> object:
    return ctypes.CFUNCTYPE(result, *arguments)(address)


def test_constants_and_calls_of_the_c_library() -> None:
    power, other = load_object(object_code(CALLS), "power", "other")
    for at, base in enumerate((1.0, 2.5, 4.0, 8.0)):
        assert _function(power, ctypes.c_double, ctypes.c_int64)(at) == math.atan(base**3)
    assert _function(other, ctypes.c_double, ctypes.c_double)(1.0) == 1.1


@pytest.mark.parametrize("level", levels(), ids=lambda level: level.name)
def test_code_for_each_level_that_this_processor_reaches(level: Level) -> None:
    own = own_level()
    assert own is not None
    with compiling_for(level):
        code = object_code(CALLS)
    if levels().index(level) >= levels().index(own):
        (power,) = load_object(code, "power")
        assert _function(power, ctypes.c_double, ctypes.c_int64)(1) == math.atan(2.5**3)


def test_llvm_loads_the_same_where_the_system_is_another(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machine, "can_load", lambda: False)
    (power,) = machine.addresses_of(object_code(CALLS), "power")
    assert _function(power, ctypes.c_double, ctypes.c_int64)(2) == math.atan(64.0)


def test_what_is_not_known_is_left_to_llvm(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*arguments: object) -> list[int]:
        raise UnknownObjectError("an open address of kind 7")

    monkeypatch.setattr(machine, "load_object", refuse)
    assert machine.addresses_of(object_code(CALLS), "power")[0]


def test_damaged_files_are_refused_before_anything_runs() -> None:
    code = object_code(CALLS)
    with pytest.raises(UnknownObjectError, match="no function 'absent'"):
        load_object(code, "absent")
    with pytest.raises(UnknownObjectError, match="no object file for x86-64"):
        load_object(code[:5], "power")
    with pytest.raises(UnknownObjectError, match="no object file for x86-64"):
        load_object(code[:18] + struct.pack("<H", 3) + code[20:], "power")  # for another machine
    with pytest.raises(UnknownObjectError, match="not as expected"):
        load_object(code[: len(code) // 2], "power")
    with pytest.raises(UnknownObjectError, match="the C library has no function 'not_there_at_all'"):
        load_object(object_code(CALLS.replace("@atan", "@not_there_at_all")), "power")


def test_the_level_of_a_processor_is_the_highest_that_it_reaches(monkeypatch: pytest.MonkeyPatch) -> None:
    from dromos.compiler import levels as module

    best, *_, least = module._LEVELS[platform.machine()]
    for features, expected in ((best.needs | least.needs, best), (least.needs, least), (frozenset({"fp"}), None)):
        monkeypatch.setattr(module, "_features", lambda features=features: features)
        assert own_level.__wrapped__() == expected
    monkeypatch.setattr(sys, "platform", "darwin")
    assert levels() == ()


def test_features_are_those_that_all_processors_have(monkeypatch: pytest.MonkeyPatch, tmp_path) -> None:
    from dromos.compiler import levels as module

    file = tmp_path / "cpuinfo"
    file.write_text("processor\t: 0\nFeatures\t: fp asimd atomics\n\nprocessor\t: 1\nFeatures\t: fp asimd\n")
    monkeypatch.setattr(module, "_DESCRIPTION", str(file))
    assert module._features() == {"fp", "asimd"}
    assert module.processor_description.__wrapped__().splitlines() == [
        "Features\t: fp asimd",
        "Features\t: fp asimd atomics",
    ]
    monkeypatch.setattr(module, "_DESCRIPTION", str(tmp_path / "absent"))
    assert module._features() == frozenset()
