"""What a person is told who waits for something that a call did not ask for."""

from __future__ import annotations

import logging
import sys

__all__ = ["tell"]


def tell(text: str, log: logging.Logger) -> None:
    """On a terminal and in a notebook a line, elsewhere a record of the log.

    >>> tell("compiling the kernel 'pull'", logging.getLogger("dromos.compiling"))
    """
    if "ipykernel" in sys.modules or (sys.stderr is not None and sys.stderr.isatty()):
        print(f"dromos: {text}", file=sys.stderr, flush=True)
    else:
        log.info(text)
