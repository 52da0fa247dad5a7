"""Threads that come to one vertex at the same time: nothing is torn, nothing is lost."""

from __future__ import annotations

import re

import numpy as np
import pytest

from dromos.engines.cpu import CpuEngine, emit
from dromos.program import GraphTypes, Program, analyse
from tests.program import programs
from tests.program.running import run
from tests.stress.colliding import Pairs, everyone_wants_everyone

TYPES = GraphTypes(np.dtype(np.int32), np.dtype(np.float32))


@pytest.mark.parametrize("targets", [9, 3000])  # rows that are claimed arc by arc, and through the filter
def test_a_message_of_two_parts_is_taken_whole(targets: int) -> None:
    assert analyse(Pairs.typed(TYPES)).claimed == "first"
    graph = everyone_wants_everyone(130, targets)
    for _ in range(20):
        found, history = run(Pairs(sources=130), graph, "sync-push-dd", engine=CpuEngine(threads=4))
        assert (found["first"] >= 0).all()
        np.testing.assert_array_equal(found["second"], 2 * found["first"].astype(np.int64) + 1)
        assert history[0].after.frontier == targets  # each in one queue


def test_a_claim_reads_its_guard_once_and_swaps_before_it_writes() -> None:
    text = emit.module_text(Pairs.typed(TYPES), analyse(Pairs.typed(TYPES)), "claiming")
    body = text[text.index("def claim_store(") :].split("\n\n")[0]
    slot = [spec.name for spec in Pairs.typed(TYPES).ir.fields].index("first")
    assert body.count(f"load_unordered(S[{slot}], v)") == 1
    assert body.index("compare_and_swap_relaxed(") < body.rindex("store_relaxed(")


@pytest.mark.parametrize("skeleton", ["asynchronous", "claiming"])
@pytest.mark.parametrize("kind", [Pairs, programs.SSSPWithParents, programs.ReachSets])
def test_fields_that_others_write_are_read_and_written_by_atomics(kind: type[Program], skeleton: str) -> None:
    text = emit.module_text(kind.typed(TYPES), analyse(kind.typed(TYPES)), skeleton)
    for name in ("compute_at", "wants_at", "update_at", "update_store", "changes", "claim_store"):
        body = text[text.index(f"def {name}(") :].split("\n\n")[0]
        assert not re.search(r"\b[SD]\[\d+\]\[", body), f"a plain access in {name}:\n{body}"
