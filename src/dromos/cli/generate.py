"""``dromos generate``: regular and random graphs, written to a file of any format."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from dromos.cli.console import work
from dromos.cli.graph_files import Out, check_name, write_graph
from dromos.cli.sizes import parse_range

if TYPE_CHECKING:
    from dromos.graph import Graph

__all__ = ["app"]

app = typer.Typer(help="Generate a graph and write it to a file.", no_args_is_help=True)

Seed = Annotated[int, typer.Option(help="The same seed gives the same graph, with any number of threads.")]
Weights = Annotated[
    str | None, typer.Option(metavar="LOW..HIGH", help="Add random weights, such as 1..255 (whole) or 0.0..1.0 (real).")
]
Threads = Annotated[int | None, typer.Option(help=r"Threads \[default: all cores]")]
Directed = Annotated[bool, typer.Option("--directed", help="Make the edges directed.")]
DropLoops = Annotated[bool, typer.Option("--drop-self-loops", help="Drop edges from a vertex to itself.")]
Dedupe = Annotated[bool, typer.Option("--dedupe", help="Keep one of several parallel edges.")]
Vertices = Annotated[int, typer.Option("--vertices", "-n", help="Number of vertices.", show_default=False)]


def _make(out: Path, weights: str | None, seed: int, generate: Callable[[], Graph]) -> None:
    from dromos.graph import generators

    bounds = None if weights is None else parse_range(weights)
    check_name(out)
    with work("generating"):
        graph = generate()
        if bounds is not None:
            low, high, whole = bounds
            graph = (
                generators.with_random_weights(graph, int(low), int(high), seed=seed)
                if whole
                else generators.with_random_weights(graph, low, high, seed=seed)
            )
    write_graph(graph, out)


@app.command()
def rmat(
    out: Out,
    scale: Annotated[int, typer.Option(help="2^scale vertices.")] = 20,
    edge_factor: Annotated[int, typer.Option(help="Edges generated per vertex.")] = 16,
    a: Annotated[float, typer.Option(help="Probability of the upper left quadrant.")] = 0.57,
    b: Annotated[float, typer.Option(help="Probability of the upper right quadrant.")] = 0.19,
    c: Annotated[float, typer.Option(help="Probability of the lower left quadrant.")] = 0.19,
    directed: Directed = False,
    dedupe: Dedupe = False,
    drop_self_loops: DropLoops = False,
    seed: Seed = 0,
    weights: Weights = None,
    threads: Threads = None,
) -> None:
    """A Graph 500 Kronecker graph: skewed degrees, small diameter."""
    from dromos.graph import generators

    def generate() -> Graph:
        return generators.rmat(
            scale, edge_factor, a, b, c,
            seed=seed, symmetrize=not directed, dedupe=dedupe, drop_self_loops=drop_self_loops,
            threads=threads,
        )  # fmt: skip

    _make(out, weights, seed, generate)


@app.command()
def uniform(
    out: Out,
    vertices: Vertices,
    edges: Annotated[int, typer.Option("--edges", "-m", help="Number of edges.", show_default=False)],
    directed: Directed = False,
    dedupe: Dedupe = False,
    drop_self_loops: DropLoops = False,
    seed: Seed = 0,
    weights: Weights = None,
    threads: Threads = None,
) -> None:
    """An Erdos-Renyi graph: every edge joins two vertices chosen uniformly."""
    from dromos.graph import generators

    def generate() -> Graph:
        return generators.uniform(
            vertices, edges, directed=directed, dedupe=dedupe, drop_self_loops=drop_self_loops,
            seed=seed, threads=threads,
        )  # fmt: skip

    _make(out, weights, seed, generate)


@app.command()
def grid(
    out: Out,
    rows: Annotated[int, typer.Option(help="Rows.", show_default=False)],
    cols: Annotated[int, typer.Option(help="Columns.", show_default=False)],
    depth: Annotated[int | None, typer.Option(help="Layers, for a 3-D lattice.")] = None,
    periodic: Annotated[bool, typer.Option("--periodic", help="Join opposite borders.")] = False,
    delete: Annotated[float, typer.Option(help="Share of edges to delete at random.")] = 0.0,
    seed: Seed = 0,
    weights: Weights = None,
) -> None:
    """A 2-D or 3-D lattice: a stand-in for road networks."""
    from dromos.graph import generators

    _make(
        out, weights, seed,
        lambda: generators.grid(rows, cols, depth, periodic=periodic, delete=delete, seed=seed),
    )  # fmt: skip


@app.command("barabasi-albert")
def barabasi_albert(
    out: Out,
    vertices: Vertices,
    edges: Annotated[int, typer.Option("--edges", "-m", help="Edges that each new vertex brings.", show_default=False)],
    seed: Seed = 0,
    weights: Weights = None,
) -> None:
    """Preferential attachment: each new vertex joins well-connected ones."""
    from dromos.graph import generators

    _make(out, weights, seed, lambda: generators.barabasi_albert(vertices, edges, seed=seed))


@app.command("watts-strogatz")
def watts_strogatz(
    out: Out,
    vertices: Vertices,
    neighbors: Annotated[int, typer.Option("--neighbors", "-k", help="Neighbors on the ring.", show_default=False)],
    probability: Annotated[float, typer.Option("--probability", "-p", help="Chance of rewiring an edge.")] = 0.1,
    seed: Seed = 0,
    weights: Weights = None,
) -> None:
    """A small world: a ring whose edges are rewired at random."""
    from dromos.graph import generators

    _make(out, weights, seed, lambda: generators.watts_strogatz(vertices, neighbors, probability, seed=seed))


def _classic(name: str, title: str) -> None:
    def command(out: Out, vertices: Vertices, seed: Seed = 0, weights: Weights = None) -> None:
        from dromos.graph import generators

        _make(out, weights, seed, lambda: getattr(generators, name)(vertices))

    command.__doc__ = title
    app.command(name)(command)


_classic("path", "Vertices in a row.")
_classic("cycle", "Vertices in a ring.")
_classic("complete", "Every vertex joined to every other.")


@app.command()
def star(out: Out, vertices: Vertices, seed: Seed = 0, weights: Weights = None) -> None:
    """One hub joined to all other vertices."""
    from dromos.graph import generators

    _make(out, weights, seed, lambda: generators.star(vertices - 1))  # NetworkX counts the leaves


@app.command("binary-tree")
def binary_tree(
    out: Out,
    depth: Annotated[int, typer.Option(help="Levels below the root.", show_default=False)],
    seed: Seed = 0,
    weights: Weights = None,
) -> None:
    """A full binary tree."""
    from dromos.graph import generators

    _make(out, weights, seed, lambda: generators.binary_tree(depth))
