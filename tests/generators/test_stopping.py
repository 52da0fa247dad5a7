"""Generators and the building of rows can be interrupted: work is dealt out in pieces, and looks at a stop flag."""

from __future__ import annotations

import signal
import threading
from importlib import import_module

import numpy as np
import pytest

import dromos as dr
from dromos.graph import build
from dromos.parallel import NO_MORE_WORK, run_team

rmat, uniform = (import_module(f"dromos.graph.generators.{name}") for name in ("rmat", "uniform"))  # not the functions


@pytest.mark.usefixtures("no_collections")
def test_ctrl_c_takes_the_work_that_is_left_away():
    ticket, main = np.zeros(1, np.int64), threading.main_thread().ident

    def endless(thread, count):
        signal.pthread_kill(main, signal.SIGINT)
        while ticket[0] < NO_MORE_WORK:
            pass

    with pytest.raises(KeyboardInterrupt):
        run_team(endless, threads=1, stop=ticket, stop_value=NO_MORE_WORK)


@pytest.mark.parametrize("what", ["edges", "rows"])
def test_pieces_add_up_to_the_whole(what, monkeypatch):
    def made():
        columns = rmat.rmat_edges(10, 40, seed=5, threads=2), uniform.uniform_edges(900, 40_000, seed=5, threads=2)
        rng = np.random.default_rng(1)
        rows = [
            build.build_csr(*edges[:2], rng.random(len(edges.src)), 1024, mirror=mirror, dedupe=dedupe, threads=2)
            for edges in columns for mirror in (False, True) for dedupe in (False, True)
        ]  # fmt: skip
        return [column for part in (*columns, *rows) for column in part if column is not None]

    whole = made()
    for module in (rmat, uniform) if what == "edges" else (build,):
        monkeypatch.setattr(module, "EDGES_A_CALL", 3001)
    for one, other in zip(whole, made(), strict=True):
        np.testing.assert_array_equal(one, other)


def test_an_interrupt_between_two_pieces_goes_through(monkeypatch):
    calls = []

    def first_only(*args, **how):
        if calls:
            raise KeyboardInterrupt
        calls.append(args)

    monkeypatch.setattr(rmat, "EDGES_A_CALL", 100)
    monkeypatch.setattr(rmat, "run_team", first_only)
    with pytest.raises(KeyboardInterrupt):
        dr.generators.rmat(8, seed=1)
