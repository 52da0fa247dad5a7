"""The command line: ``dromos generate | convert | info | verify | formats | serve | plan | warm | run``, algorithms.

Exit codes: 0 success; 1 bad input or file; 2 wrong usage; 3 not enough memory, disk or device; 130 interrupted.
"""

from __future__ import annotations

import os
import signal
import sys
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from dromos._version import __version__
from dromos.cli import (
    convert,
    formats,
    generate,
    graph500,
    info,
    largest_component,
    plan,
    reachability,
    run,
    serve,
    verify,
    warm,
)
from dromos.cli.advice import in_options, listen, speak_as
from dromos.cli.algorithms import add_commands
from dromos.cli.console import err
from dromos.errors import DromosError, FileError, InvalidArgumentError, ResourceError

__all__ = ["app", "main"]

EXIT_BAD_INPUT, EXIT_USAGE, EXIT_RESOURCES, EXIT_INTERRUPTED = 1, 2, 3, 130


class _Commands(TyperGroup):
    """The commands; a name from another library is answered with ours, as ``dromos.shortest_path`` is in Python."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        from dromos import _ELSEWHERE

        ours = _ELSEWHERE.get(args[0].replace("-", "_"), "").replace("_", "-")
        if args[0] not in self.commands and ours in self.commands:
            ctx.fail(f"No such command {args[0]!r}. Did you mean {ours!r}?")
        return super().resolve_command(ctx, args)


app = typer.Typer(
    cls=_Commands,
    name="dromos",
    help="Graph algorithms on CPUs, GPUs, disks and clusters.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.add_typer(generate.app, name="generate")
app.command("convert")(convert.convert)
app.command("info")(info.info)
app.command("verify")(verify.verify)
app.command("formats")(formats.formats)
app.command("serve")(serve.serve)
app.command("plan")(plan.plan)
app.command("warm")(warm.warm)
add_commands(app)
app.command("largest-component", rich_help_panel="Algorithms")(largest_component.largest_component)
app.command("reachability-index", rich_help_panel="Algorithms")(reachability.reachability_index)
app.command("reachable", rich_help_panel="Algorithms")(reachability.reachable)
app.command("graph500")(graph500.graph500)
app.command("run", rich_help_panel="Your own programs")(run.run)


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"dromos {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    context: typer.Context,
    version: Annotated[
        bool, typer.Option("--version", help="Show the version and exit.", callback=_show_version, is_eager=True)
    ] = False,
) -> None:
    """Graph algorithms on CPUs, GPUs, disks and clusters."""
    commands = getattr(context.command, "commands", {})
    speak_as(commands.get(context.invoked_subcommand))
    listen()


def main() -> None:
    """Run the command line and exit with its code."""
    signal.signal(signal.SIGTERM, _terminate)
    # a terminal that is closed; nohup ignores it, and Windows has none
    if hasattr(signal, "SIGHUP") and signal.getsignal(signal.SIGHUP) is signal.SIG_DFL:
        signal.signal(signal.SIGHUP, _terminate)
    try:
        app()
    except KeyboardInterrupt:
        _say_interrupted()
        sys.exit(EXIT_INTERRUPTED)
    except SystemExit as done:  # what Typer makes of a KeyboardInterrupt
        if done.code == EXIT_INTERRUPTED:
            _say_interrupted()
        raise
    except BrokenPipeError:  # the reader of our output has gone, as with `dromos info G | head -1`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(EXIT_BAD_INPUT)
    except DromosError as error:
        _end_other_ranks(error)
        err.print(f"[bold red]error{_rank()}:[/] {_escaped(error)}", soft_wrap=not err.is_terminal)
        sys.exit(_exit_code(error))
    except MemoryError:
        err.print(
            "[bold red]error:[/] out of memory; `dromos convert --memory` converts a file within a budget",
            soft_wrap=True,
        )
        sys.exit(EXIT_RESOURCES)


def _end_other_ranks(error: DromosError) -> None:
    """In an MPI job the other ranks would wait for this one: the job ends, with this error."""
    from dromos.places.cluster.world import abort, launched

    mpi4py = sys.modules.get("mpi4py.MPI")
    if mpi4py is not None and launched():
        abort(mpi4py.COMM_WORLD, error)


def _rank() -> str:
    """Which rank of an MPI job this is, for an error that came before MPI was started."""
    from dromos.places.cluster.world import launched, rank_of_job

    return f" on rank {rank_of_job()}" if launched() else ""


def _say_interrupted() -> None:
    err.print("interrupted; no partial files are left behind")


def _terminate(signum: int, frame: Any) -> None:
    raise SystemExit(128 + signum)  # unwinds, so that half-written files are removed


def _escaped(error: DromosError) -> str:
    from rich.markup import escape

    return escape(in_options(str(error)))


def _exit_code(error: DromosError) -> int:
    import errno

    cause = error.__cause__
    if isinstance(error, ResourceError):
        return EXIT_RESOURCES
    if isinstance(error, FileError) and isinstance(cause, OSError) and cause.errno in (errno.ENOSPC, errno.EFBIG):
        return EXIT_RESOURCES
    return EXIT_USAGE if isinstance(error, InvalidArgumentError) else EXIT_BAD_INPUT
