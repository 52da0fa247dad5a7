"""Run on every rank: results that stay with the ranks, against those that every rank has whole."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.dataset as ds
import pytest
from pyarrow import parquet

import dromos as dr
from dromos.errors import FileError, InvalidArgumentError
from dromos.places.cluster import world
from tests.program.programs import Hebb

DEVICE = "mpi:numpy"


def calls(folder: Path) -> dict[str, Callable[..., dr.Result]]:
    draw = np.random.default_rng(5)
    src, dst = draw.integers(0, 64, 200), draw.integers(0, 64, 200)
    graph = dr.Graph.from_edges(src, dst, draw.integers(1, 9, 200).astype(np.float32), directed=False, num_vertices=64)
    labelled = dr.Graph.from_edges(["ada", "bob", "eve"], ["bob", "eve", "zoe"], directed=False)
    file = folder / "g.drm"
    if world().Get_rank() == 0:
        dr.write(graph, file)
    world().Barrier()
    return {
        "bfs": lambda **how: dr.bfs(dr.open(file), 1, **how),
        "labels": lambda **how: dr.bfs(labelled, "zoe", depth_limit=1, **how),
        "pagerank": lambda **how: dr.pagerank(graph, **how),
        "sssp": lambda **how: dr.sssp(dr.open(file), 1, **how),
        "components": lambda **how: dr.connected_components(graph, **how),
        "edge fields": lambda **how: dr.run(Hebb(rate=0.5), graph, max_iter=3, **how),
        "rows by edge": lambda **how: dr.biconnected_components(dr.open(file), **how),
        "rows that are no vertices": lambda **how: dr.multi_source_bfs(graph, range(7), **how),
        "no vertices": lambda **how: dr.pagerank(dr.Graph.from_edges([], [], num_vertices=0), **how),
    }


def check(name: str, call: Callable[..., dr.Result], folder: Path) -> None:
    comm = world()
    own, whole = call(device=DEVICE, gather=False), call(device=DEVICE)
    gathered = own.gather()
    for field in whole:
        if field != "parent":  # any that is as near
            assert np.allclose(gathered[field], whole[field], equal_nan=True), (name, field)
    assert len(own.to_arrow()) < len(whole.to_arrow()) or not len(whole.to_arrow()), name
    if name in ("labels", "pagerank", "components"):  # a verifier needs the graph in memory
        gathered.verify()
    own.write(folder / name)
    own.write(folder / f"{name}.parquet")
    own.write(folder / f"{name}.json")
    table, one = ds.dataset(folder / name).to_table(), parquet.read_table(folder / f"{name}.parquet")
    assert table.equals(gathered.to_arrow()), (name, table.schema)
    assert one.equals(table), name
    assert sorted(entry.name for entry in (folder / name).iterdir()) == [
        f"part-0000{rank}.parquet" for rank in range(comm.Get_size())
    ]


def refusals(call: Callable[..., dr.Result], folder: Path) -> None:
    """What needs all rows says so; what one rank cannot write, none has written."""
    comm = world()
    own = call(device=DEVICE, gather=False)
    for asked in (own.verify, lambda: own.report(folder / "a.html"), lambda: own.path_to(3)):
        with pytest.raises(InvalidArgumentError, match=r"result\.gather\(\)"):
            asked()
    assert all(row.parts.startswith("compute ") and ", exchange " in row.parts for row in own.trace)
    first = comm.allgather(int(own.vertices[0]))
    assert own.at(first[comm.Get_rank()])["level"] == own.level[0]
    assert own.head(1)["vertex"] == [first[comm.Get_rank()]]
    with pytest.raises(InvalidArgumentError, match="belongs to another rank"):
        own.at(first[comm.Get_rank() - 1])
    if comm.Get_rank() == 0:
        (folder / "mine").mkdir()
        (folder / "mine" / "notes.txt").write_text("mine")
    comm.Barrier()
    with pytest.raises(FileError, match="other files in it"):
        own.write(folder / "mine")
    for name in ("nowhere/levels", "nowhere/levels.parquet", "nowhere/levels.csv"):
        with pytest.raises(FileError, match="cannot write"):
            own.write(folder / name)
    own.write(folder / "bfs")  # in the place of an older one
    comm.Barrier()
    assert not [entry for entry in folder.iterdir() if entry.name.startswith(".")]


def main() -> None:
    folder = Path(sys.argv[1])
    known: dict[str, Any] = calls(folder)
    for name, call in known.items():
        check(name, call, folder)
    refusals(known["bfs"], folder)
    if world().Get_rank() == 0:
        print(f"{len(known)} results agree")


if __name__ == "__main__":
    main()
