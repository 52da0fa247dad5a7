"""The parts of the text engine by themselves: numbers, blocks of lines, threads that keep the order."""

from __future__ import annotations

import bz2
import gzip
import threading
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from dromos.errors import FormatError
from dromos.graph.formats import text_format_kernels as format_kernels
from dromos.graph.formats import text_kernels as kernels
from dromos.graph.formats.text_file import TextFile
from dromos.graph.formats.text_number_kernels import address_of, parse_decimal, parse_integer
from dromos.graph.formats.text_pipeline import in_order
from dromos.graph.formats.text_weights import narrowed
from dromos.jit import kernel


@kernel
def _integer(text):  # type: ignore[no-untyped-def]
    value, stop, status = parse_integer(address_of(text))
    return value, stop - address_of(text), status


@kernel
def _decimal(text):  # type: ignore[no-untyped-def]
    value, stop, kind = parse_decimal(address_of(text))
    return value, stop - address_of(text), kind


def _array(text: str) -> np.ndarray:
    return np.frombuffer(text.encode() + b"\n" + bytes(16), dtype=np.uint8)


INTEGER, DECIMAL, INEXACT, SLOW = range(4)


@given(
    st.one_of(st.integers(-(2**66), 2**66), st.integers(-(10**9), 10**9)), st.sampled_from(["", "+", "000", "0" * 30])
)
@example(2**63 - 1, "")
@example(2**63, "")
@example(-(2**63), "")
@example(-(2**63) - 1, "")
@example(99999999, "")
@example(100000000, "")
def test_whole_numbers(value: int, front: str) -> None:
    text = f"-{front.strip('+')}{-value}" if value < 0 else f"{front}{value}"
    parsed, length, status = _integer(_array(text))
    assert length == len(text)
    assert (parsed, status) == (value, 0) if -(2**63) <= value < 2**63 else status == 2


@pytest.mark.parametrize("text", ["", "x", "-", "+", " 1", "/", ":", "٣"])
def test_what_is_no_whole_number(text: str) -> None:
    assert _integer(_array(text))[2] == 1


DIGITS = st.text("0123456789", min_size=1, max_size=21)
EXPONENTS = st.one_of(
    st.just(""), st.integers(-400, 400).map(lambda e: f"e{e}"), st.integers(-30, 30).map(lambda e: f"E{e:+d}")
)


@given(
    st.sampled_from(["", "-", "+"]),
    DIGITS,
    st.one_of(st.just(""), DIGITS.map(lambda d: "." + d), st.just(".")),
    EXPONENTS,
)
@settings(max_examples=1500)
@example("", "9007199254740993", "", "e0")
@example("", "9007199254740992", ".5", "")
@example("", "1", "", "e23")
@example("", "8", ".98846567431158", "e307")
@example("", "2", ".2250738585072014", "e-308")
@example("-", "0", ".0", "e-400")
@example("", "6929495644600919", ".5", "")
@example("", "3", ".58", "e-29")
def test_decimals_are_rounded_as_python_rounds_them(sign: str, whole: str, part: str, exponent: str) -> None:
    text = sign + whole + part + exponent
    value, length, kind = _decimal(_array(text))
    if kind == SLOW:  # more digits than a word holds, subnormal, or too large
        assert len(whole.lstrip("0") + part) > 19 or not 2.3e-308 < abs(float(text)) < 8e307
        return
    assert length == len(text)
    assert value.hex() == float(text).hex()
    if kind in (INTEGER, INEXACT):
        assert part == exponent == ""
        assert (int(text) == value) == (kind == INTEGER)


@given(st.floats(allow_nan=False, allow_infinity=False))
@settings(max_examples=1000)
def test_the_shortest_text_of_any_double_is_parsed_exactly(value: float) -> None:
    parsed, _, kind = _decimal(_array(repr(value)))
    assert kind == SLOW or parsed.hex() == value.hex()


def test_nearly_all_doubles_are_parsed_without_help() -> None:
    rng = np.random.default_rng(0)
    texts = [
        repr(value)
        for value in rng.random(2000).tolist() + (rng.random(2000) * 10.0 ** rng.integers(-200, 200)).tolist()
    ]
    assert sum(_decimal(_array(text))[2] == SLOW for text in texts) == 0


@given(st.lists(st.one_of(st.floats(allow_nan=False), st.decimals(-1000, 1000, places=2).map(float)), min_size=1))
def test_shortened_doubles_are_the_shortest_that_read_back(values: list[float]) -> None:
    column = np.array(values)
    mantissas, places = np.empty(len(column), np.int64), np.empty(len(column), np.int8)
    format_kernels.shorten(column, mantissas, places)
    for value, mantissa, place in zip(values, mantissas.tolist(), places.tolist(), strict=True):
        if place >= 0:
            exact = Fraction(mantissa, 10**place)
            assert float(exact) == value
            assert exact == Fraction(repr(value))


@given(st.lists(st.floats(allow_nan=False, width=32), min_size=1))
def test_shortened_singles_read_back(values: list[float]) -> None:
    column = np.array(values, dtype=np.float32)
    mantissas, places = np.empty(len(column), np.int64), np.empty(len(column), np.int8)
    format_kernels.shorten(column, mantissas, places)
    for value, mantissa, place in zip(column, mantissas.tolist(), places.tolist(), strict=True):
        if place >= 0:
            text = f"{Fraction(mantissa, 10**place)}"
            assert (
                narrowed(np.array([mantissa / 10**place]), False, np.dtype(np.float32), lambda _, t=text: t)[0] == value
            )


@given(st.binary(max_size=200), st.integers(0, 9))
def test_lines_are_counted(data: bytes, skipped: int) -> None:
    data = data.replace(b"x", b"\n") + bytes(16)
    stop = len(data) - 16
    begin = min(skipped, stop)
    assert kernels.count_lines(np.frombuffer(data, np.uint8), begin, stop) == data[begin:stop].count(b"\n")


@given(
    st.lists(st.binary(max_size=40).map(lambda b: b.replace(b"\n", b"").replace(b"\r", b""))),
    st.integers(1, 50),
    st.booleans(),
)
def test_blocks_are_whole_lines_and_lose_nothing(
    tmp_path_factory: pytest.TempPathFactory, lines: list[bytes], size: int, ended: bool
) -> None:
    data = b"\n".join(lines) + b"\n" * ended
    if not data:
        return
    path = tmp_path_factory.mktemp("blocks") / "g.txt"
    path.write_bytes(data)
    with TextFile(path, block_bytes=size) as text:
        seen = [text.next_line()] if lines and len(lines[0]) % 2 else []
        blocks = []
        while (block := text.next_block()) is not None:
            assert block.data[block.end - 1] == 10
            blocks.append(block.bytes())
            text.give_back(block)
    whole = b"".join([line + b"\n" for line in seen if line is not None] + blocks)
    assert whole == data if data.endswith(b"\n") else whole == data + b"\n"


@pytest.mark.parametrize("pack", [gzip.compress, bz2.compress])
def test_compressed_blocks_may_be_larger_than_the_file(tmp_path: Path, pack) -> None:  # type: ignore[no-untyped-def]
    path = tmp_path / ("g.txt.gz" if pack is gzip.compress else "g.txt.bz2")
    path.write_bytes(pack(b"0 1\n" * 100_000))
    with TextFile(path, block_bytes=4096) as text:
        total = 0
        while (block := text.next_block()) is not None:
            total += block.end - block.begin
            text.give_back(block)
    assert total == 400_000


def test_a_line_without_end_is_refused_before_memory_is_full(tmp_path: Path) -> None:
    path = tmp_path / "g.txt"
    path.write_bytes(b"1" * 100_000)
    with (
        TextFile(path, block_bytes=100, longest_line=10_000) as text,
        pytest.raises(FormatError, match="a line of more than"),
    ):
        text.next_block()


def _counting(stop: int) -> Iterator[int]:
    yield from range(stop)


@pytest.mark.parametrize("threads", [1, 2, 7])
def test_results_come_in_order(threads: int) -> None:
    items = _counting(500)
    pause = threading.Event()

    def work(item: int) -> int:
        if item % 50 == 3:
            pause.wait(0.01)
        return item * item

    assert list(in_order(lambda: next(items, None), work, threads)) == [i * i for i in range(500)]


@pytest.mark.parametrize("threads", [1, 4])
@pytest.mark.parametrize("where", ["take", "work"])
def test_an_error_comes_in_its_turn_and_ends_the_threads(threads: int, where: str) -> None:
    items = _counting(100)

    def take() -> int | None:
        item = next(items, None)
        if item == 20 and where == "take":
            raise KeyError(item)
        return item

    def work(item: int) -> int:
        if item == 20 and where == "work":
            raise KeyError(item)
        return item

    before = threading.active_count()
    results = in_order(take, work, threads)
    assert [next(results) for _ in range(20)] == list(range(20))
    with pytest.raises(KeyError):
        next(results)
    assert threading.active_count() == before


def test_little_is_taken_ahead_and_leaving_early_ends_the_threads() -> None:
    taken: list[int] = []
    items = _counting(1000)

    def take() -> int | None:
        item = next(items, None)
        if item is not None:
            taken.append(item)
        return item

    before = threading.active_count()
    results = in_order(take, lambda item: item, 3)
    assert next(results) == 0
    results.close()  # type: ignore[attr-defined]
    assert threading.active_count() == before
    assert len(taken) <= 8
