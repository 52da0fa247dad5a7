"""Every algorithm against NetworkX or SciPy on graphs made by Hypothesis: 200 each in ``make test-deep``.

The tests beside this file look at paths, options and awkward graphs; here all algorithms see the same kinds of graphs.
"""

from __future__ import annotations

import os

import pytest
from hypothesis import given

import dromos as dr
import dromos.algorithms
import tests.algorithms.checks_of_structure
import tests.algorithms.checks_of_values  # noqa: F401  # they enter themselves into the table
from tests.algorithms.checking import CHECKS, GRAPHS
from tests.algorithms.support import examples, graphs


def test_every_algorithm_has_a_check() -> None:
    """A new algorithm without one is a failure."""
    assert set(CHECKS) == set(dromos.algorithms.__all__)


@pytest.mark.parametrize("name", CHECKS)
def test_answers_are_those_of_networkx_or_scipy(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """On the CPU's kernels where many examples repay compiling them, otherwise with NumPy."""
    monkeypatch.setenv("DROMOS_DEVICE", "cpu" if "DROMOS_TEST_EXAMPLES" in os.environ else "numpy")

    @examples(3)
    @given(graph=graphs(**GRAPHS[name]))
    def on_any_graph(graph: dr.Graph) -> None:
        CHECKS[name](graph)

    on_any_graph()
