"""The ``dromos`` command, and ``python -m dromos`` if the script is not on the path."""

from __future__ import annotations

import signal

__all__ = ["main"]


def main() -> None:
    """Import the command line, which takes about a second, and run it.

    Ctrl-C ends the import without a traceback: the signal then does what it does to any program.
    """
    handler = signal.getsignal(signal.SIGINT)
    if handler is signal.default_int_handler:  # else somebody has chosen, such as nohup, which ignores it
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    from dromos.cli import main as run

    signal.signal(signal.SIGINT, handler)
    run()


if __name__ == "__main__":
    main()
