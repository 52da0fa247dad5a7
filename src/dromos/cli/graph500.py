"""``dromos graph500``: the benchmark of that name, alone or over the ranks of an MPI job."""

from __future__ import annotations

from typing import Annotated

import typer

from dromos.cli.console import err, print_json

__all__ = ["graph500"]


def graph500(
    scale: Annotated[int, typer.Option(min=1, help="The logarithm of the number of vertices.")] = 20,
    edge_factor: Annotated[int, typer.Option(min=1, help="Edges per vertex.")] = 16,
    searches: Annotated[int, typer.Option(min=1, help="How many searches are timed and validated.")] = 64,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the graph and of the search keys.")] = 0,
    device: Annotated[
        str, typer.Option(help="mpi, mpi:LEAF with the engine that each rank runs, or mpi:4x2 for a grid of ranks.")
    ] = "mpi",
    sssp: Annotated[bool, typer.Option("--sssp", help="Also search for shortest paths (kernel 3).")] = False,
    validate: Annotated[bool, typer.Option(help="Check every answer by the rules.")] = True,
    json: Annotated[bool, typer.Option("--json", help="Print a summary as JSON.")] = False,
) -> None:
    """Run the Graph 500 benchmark (breadth-first search, --sssp: shortest paths), as `mpirun -n 4 dromos graph500`."""
    from dromos.errors import InvalidArgumentError
    from dromos.graph500 import run
    from dromos.places.cluster import ClusterEngine
    from dromos.runner.devices import engine_for

    engine = engine_for(device)
    if not isinstance(engine, ClusterEngine):
        raise InvalidArgumentError(f"--device {device}: the benchmark runs on mpi, or on mpi:LEAF such as mpi:numpy")
    first = engine.comm.Get_rank() == 0

    def progress(done: int, total: int) -> None:
        if first and err.is_terminal:
            err.print(f"search {done} of {total}", end="\r")

    outcome = run(
        engine, scale, edge_factor, searches=searches, seed=seed, sssp=sssp, validate=validate, progress=progress
    )
    if not first:
        return
    if json:
        print_json(
            {
                "scale": outcome.scale,
                "edge_factor": outcome.edge_factor,
                "ranks": outcome.ranks,
                "construction_seconds": outcome.construction,
                "searches": len(outcome.bfs.times),
                "validated": validate,
                "harmonic_mean_teps": outcome.bfs.harmonic_mean,
                **({"sssp_harmonic_mean_teps": outcome.sssp.harmonic_mean} if sssp else {}),
            }
        )
    else:
        typer.echo(outcome.text())
