"""Which way GPU ranks take to each other, by what they have."""

from __future__ import annotations

import pytest

from dromos.errors import InvalidArgumentError
from dromos.places.cluster.transport import RankFacts, transport_for


@pytest.mark.parametrize(
    ("devices", "nccl", "aware", "asked", "expected"),
    [
        ("ab", [True, True], [False, False], "auto", "nccl"),
        ("ab", [True, True], [True, True], "auto", "nccl"),
        ("aa", [True, True], [True, True], "auto", "mpi"),  # NCCL refuses two ranks on one device
        ("ab", [True, False], [True, True], "auto", "mpi"),
        ("ab", [True, False], [True, False], "auto", "staged"),
        ("aa", [True, True], [False, False], "auto", "staged"),
        ("ab", [True, True], [True, True], "staged", "staged"),
        ("ab", [True, True], [False, False], "mpi", "mpi"),
    ],
)
def test_all_ranks_take_the_same_way(
    devices: str, nccl: list[bool], aware: list[bool], asked: str, expected: str
) -> None:
    ranks = [RankFacts(*facts) for facts in zip(devices, nccl, aware, strict=True)]
    assert transport_for(ranks, asked) == expected


def test_an_unknown_way_is_refused() -> None:
    with pytest.raises(InvalidArgumentError, match="choose one of 'auto', 'nccl', 'mpi', 'staged'"):
        transport_for([RankFacts("a", True, True)], "pigeon")
