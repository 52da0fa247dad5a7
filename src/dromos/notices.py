"""Messages for a user who waits for something that a call did not ask for."""

from __future__ import annotations

import logging
import sys

__all__ = ["tell"]


def tell(text: str, log: logging.Logger) -> None:
    """Print a line on a terminal and in a notebook; elsewhere, write a log record.

    >>> tell("compiling the kernel 'pull'", logging.getLogger("dromos.compiling"))
    """
    if "ipykernel" in sys.modules or (sys.stderr is not None and sys.stderr.isatty()):
        print(f"dromos: {text}", file=sys.stderr, flush=True)
    else:
        log.info(text)
