"""The choice among the ways of rows to a GPU, without one."""

from __future__ import annotations

import numpy as np
import pytest

from dromos.engines.cuda.row_buffers import pieces_of
from dromos.plan.ways import LINE_BYTES, LinkRates, Way, WayFactors, bytes_of_push, choose_way

RATES = LinkRates(in_place=45e9, pages=55e9, gathered=15e9)


@pytest.mark.parametrize(
    ("frontier", "out_degree", "rates", "way"),
    [
        (10, 1_000, RATES, "in place"),
        (1_000_000, 99_000_000, RATES, "pages"),
        (1_000_000, 50_000_000, RATES, "in place"),
        (10_000, 20_000, LinkRates(in_place=45e9, pages=55e9, gathered=50e9), "gathered"),  # rows far below a line
        (100_000, 10_000_000, LinkRates(in_place=1e9, pages=12e9, gathered=8e9), "gathered"),  # an older link
    ],
)
def test_a_push_takes_the_way_of_least_time(frontier: int, out_degree: int, rates: LinkRates, way: Way) -> None:
    moved = bytes_of_push(frontier, out_degree, 100_000_000, 400_000_000)
    assert choose_way(moved, rates, {})[0] == way


def test_a_way_that_disappoints_is_left_and_one_that_holds_is_kept() -> None:
    moved: dict[Way, int] = {"in place": 10**9, "pages": 10**9}
    factors, taken = WayFactors(), []
    for _ in range(5):  # in truth pages take twice what their rate says, and reading in place a tenth more
        way, _ = choose_way(moved, RATES, factors.known)
        factors.note(way, {"pages": 2.0, "in place": 1.1}[way])
        taken.append(way)
    assert taken == ["pages", "pages", "in place", "in place", "in place"]


def test_the_first_superstep_on_a_way_says_nothing_about_it() -> None:
    """It loads kernels and touches buffers: in truth pages hold what their rate says."""
    moved: dict[Way, int] = {"in place": 10**9, "pages": 10**9}
    factors, taken = WayFactors(), []
    for number in range(4):
        way, _ = choose_way(moved, RATES, factors.known)
        factors.note(way, 5.0 if number == 0 else 1.0)
        taken.append(way)
    assert taken == ["pages"] * 4


def test_nothing_active_moves_nothing() -> None:
    moved = bytes_of_push(0, 0, 100, 400)
    assert (moved["in place"], moved["gathered"]) == (0, 0)
    assert bytes_of_push(1, 1, 1000, 4000)["in place"] == LINE_BYTES


@pytest.mark.parametrize("seed", range(20))
def test_pieces_are_all_rows_and_fit_but_for_long_ones(seed: int) -> None:
    draw = np.random.default_rng(seed)
    lengths = draw.integers(0, 12, draw.integers(0, 40))
    lengths[draw.random(len(lengths)) < 0.2] = 50
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    first = int(draw.integers(0, len(offsets)))
    covered = np.zeros(len(lengths), int)
    for piece in pieces_of(offsets, first, 20):
        assert (piece.begin, piece.end) == (offsets[piece.first], offsets[piece.last])
        assert piece.fits == (piece.end - piece.begin <= 20)
        assert piece.fits or (lengths[piece.first : piece.last] > 20).all()
        covered[piece.first : piece.last] += 1
    assert (covered[:first] == 0).all()
    assert (covered[first:][lengths[first:] > 0] == 1).all()
