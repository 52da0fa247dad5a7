"""What is printed is what was said."""

from __future__ import annotations

import pytest

from dromos.cli.console import err, out


@pytest.mark.parametrize("console", [out, err])
def test_words_between_colons_are_no_pictures(console) -> None:
    with console.capture() as got:
        console.print("device mpi:abacus: unknown")
    assert got.get() == "device mpi:abacus: unknown\n"
