"""The host's records and the kernels' structures are the same bytes: the compiler itself is asked, without a device."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from dromos.engines.cuda.layout import HEAD_BYTES, LAUNCH_BYTES, arguments_type, control_type, piece_type, row_type
from dromos.engines.cuda.memory import LEVEL_COUNTERS
from dromos.engines.cuda.modules import Kernel, slices_kernel, source_text
from dromos.engines.cuda.native import betweenness, brandes, joint
from dromos.engines.cuda.native.launching import text_of
from dromos.program import TypedProgram, analyse
from tests.cuda.compiling import Depth, compiles
from tests.cuda.every_program import typed_programs

pytest.importorskip("cupy_backends.cuda.libs.nvrtc", reason="CuPy's compiler is not installed")


def agrees(text: str, name: str, *defines: str) -> bool:
    """Whether the static assertions of a source hold, for which it need only be parsed; an error is raised."""
    return compiles(text, name, arch="sm_90", defines=defines, depth=Depth.PARSED)


def claims(structure: str, record: np.dtype[Any], within: str = "", base: int = 0) -> Iterator[str]:
    """A static assertion for the place of every member, those of inner structures too."""
    for name, (dtype, offset, *_) in (record.fields or {}).items():
        member = f"{within}{name}"
        yield f'static_assert(__builtin_offsetof({structure}, {member}) == {base + offset}, "{member}");'
        if dtype.fields and name != "nothing":
            yield from claims(structure, dtype, f"{member}.", base + offset)


def layout_text(typed: TypedProgram) -> str:
    control = control_type(typed)
    records = {"Arguments": arguments_type(typed), "Control": control, "Row": row_type}
    lines = [f'static_assert(sizeof({name}) == {record.itemsize}, "{name}");' for name, record in records.items()]
    for name, record in records.items():
        lines += claims(name, record)
    assert control.fields is not None
    assert control.fields["supersteps"][1] >= HEAD_BYTES, "what is cleared before a launch ends before what stays"
    return "\n".join(lines)


def compiled(typed: TypedProgram, text: str) -> bool:
    kernel = Kernel("supersteps")
    source = source_text(typed, analyse(typed), kernel) + text
    return agrees(source, typed.ir.name, *kernel.defines, "RENAMED=1")


@pytest.mark.parametrize("number", range(0, len(typed_programs()), 3))
def test_host_and_device_agree_on_every_member(number: int) -> None:
    typed = typed_programs()[number]
    assert compiled(typed, layout_text(typed))


@pytest.mark.parametrize("width", [1, 2, 4, 8])
def test_host_and_device_agree_on_the_joint_search(width: int) -> None:
    records = {"Joint": joint.argument_type, "Control": joint.control_type(width)}
    lines = [f'static_assert(sizeof({name}) == {record.itemsize}, "{name}");' for name, record in records.items()]
    for name, record in records.items():
        lines += claims(name, record)
    text = text_of("native_joint") + "\n" + "\n".join(lines)
    assert agrees(text, "joint", f"WORDS={width}", "DISTANCE=int")


def test_host_and_device_agree_on_a_batch_of_sources() -> None:
    lines = [f'static_assert(sizeof(Batch) == {brandes.batch_type.itemsize}, "Batch");']
    text = "\n".join([text_of("native_brandes"), *lines, *claims("Batch", brandes.batch_type)])
    assert agrees(text, "brandes")


def test_host_and_device_agree_on_a_sweep() -> None:
    lines = [f'static_assert(sizeof(Sweep) == {betweenness.sweep_type.itemsize}, "Sweep");']
    text = "\n".join([text_of("native_sweep"), *lines, *claims("Sweep", betweenness.sweep_type)])
    assert agrees(text, "sweep", "WIDE=0", "LEVEL=unsigned")


def test_host_and_device_agree_on_the_length_of_a_stretch() -> None:
    typed = typed_programs()[0]
    kernel = Kernel("claiming")
    source = source_text(typed, analyse(typed), kernel) + f'static_assert(LEVELS == {LEVEL_COUNTERS}, "levels");'
    assert agrees(source, "stretch", *kernel.defines, "RENAMED=1")


def test_host_and_device_agree_on_a_piece_of_a_part() -> None:
    typed = typed_programs()[0]
    kernel = slices_kernel(typed, analyse(typed))
    lines = [
        f'static_assert(sizeof(Piece) == {piece_type.itemsize}, "Piece");',
        f'static_assert(__builtin_offsetof(Control, slots) + sizeof(Slot) == {LAUNCH_BYTES}, "slots");',
    ]
    source = "\n".join([source_text(typed, analyse(typed), kernel), *lines, *claims("Piece", piece_type)])
    assert agrees(source, "slices", *kernel.defines, "RENAMED=0")


def test_a_record_that_is_off_by_a_member_is_found() -> None:
    typed = typed_programs()[0]
    wrong = layout_text(typed).replace("(Arguments, step.policy) == ", "(Arguments, step.policy) == 8 + ")
    with pytest.raises(Exception, match="does not compile"):
        compiled(typed, wrong)
