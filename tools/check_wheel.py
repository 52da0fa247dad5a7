"""What an installation without a compiler can do: ``python tools/check_wheel.py`` in an environment of a wheel alone.

Every algorithm runs on graphs that the machine code was not made with, in memory and on disk; graphs are written and
read, and the command line is used. A kernel that the wheel does not bring is an error. The size of the installation
is compared with the limit.
"""

from __future__ import annotations

import importlib.util
import inspect
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import dromos as dr
from dromos import algorithms
from dromos.compiling import note_kernels_are_loaded
from dromos.errors import DromosError, MissingDependencyError
from dromos.graph import formats
from dromos.graph.store import convert
from dromos.places.stream.whole import over_pages
from dromos.rehearsal import arguments_for

MOST_BYTES = 150_000_000


def main() -> None:
    """Look at everything; the exit status is 1 where something is missing."""
    for module in ("llvmlite", "pyarrow", "scipy"):
        assert importlib.util.find_spec(module) is None, f"{module} is installed, so this says nothing"
    size = installed_bytes()
    print(f"installed: {size / 1e6:.0f} MB of {MOST_BYTES / 1e6:.0f}")
    note_kernels_are_loaded()  # nothing is left to NumPy
    missing: set[str] = set()
    calls = 0
    for what, call in everything():
        try:
            call()
        except MissingDependencyError as error:
            if "machine code" in str(error):
                missing.add(what)
                print(f"no machine code: {what}")
        except DromosError:  # a graph that an algorithm refuses
            pass
        calls += 1
    print(f"{calls} calls, {len(missing)} of them without machine code")
    with tempfile.TemporaryDirectory() as folder:
        for line in ("generate rmat g.drm --scale 10", "bfs g.drm --source 0 --memory 64M", "pagerank g.drm --top 3"):
            command = [sys.executable, "-m", "dromos", *line.split()]
            subprocess.run(command, check=True, cwd=folder, stdout=subprocess.DEVNULL)
    sys.exit(1 if missing or size > MOST_BYTES else 0)


def installed_bytes() -> int:
    """What the packages of this environment take on disk, less pip."""
    folder = Path(sysconfig.get_paths()["purelib"])
    files = [file for file in folder.rglob("*") if file.is_file() and not file.is_symlink()]
    return sum(file.stat().st_blocks * 512 for file in files if not file.relative_to(folder).parts[0].startswith("pip"))


def graphs() -> Mapping[str, dr.Graph]:
    """Graphs of many kinds and two sizes."""
    draw = np.random.default_rng(7)
    ends = draw.integers(0, 3000, (2, 20_000))
    names = np.array([f"name {number}" for number in range(3000)])
    uniform = dr.Graph.from_edges(*ends, num_vertices=3000)
    return {
        "small": dr.generators.watts_strogatz(200, 6, 0.1),
        "small and directed": dr.Graph.from_edges(*draw.integers(0, 90, (2, 400))),
        "R-MAT": dr.generators.rmat(15, 8, seed=3),
        "simple R-MAT": dr.generators.rmat(14, 8, seed=3, dedupe=True, drop_self_loops=True),
        "uniform": uniform,
        "weights": dr.Graph.from_edges(*ends, draw.random(20_000), directed=False),
        "weights in float32": dr.Graph.from_edges(*ends, draw.random(20_000).astype(np.float32)),
        "whole weights": dr.Graph.from_edges(*ends.astype(np.int32), draw.integers(1, 99, 20_000), directed=False),
        "names": dr.Graph.from_edges(names[ends[0]], names[ends[1]], directed=False),
        "no cycle": dr.Graph.from_edges(np.minimum(*ends), np.maximum(*ends) + 1),
        "lattice": dr.generators.grid(90, 110, weights=(1.0, 3.0)),
        "tree": dr.generators.binary_tree(12),
        "star": dr.generators.star(40_000),
    }


def everything() -> Iterator[tuple[str, Any]]:
    """What is called, in words, and the call."""
    scratch = Path(tempfile.mkdtemp())
    for kind, graph in graphs().items():
        file = scratch / f"{kind}.drm"
        graph.write(file)
        packed = scratch / f"{kind}, packed.drm"
        graph.write(packed, compress=True)
        places: Mapping[str, tuple[Any, dict[str, Any], Callable[[], AbstractContextManager[None]]]] = {
            "in memory": (graph, {}, nullcontext),
            "in slices": (graph, {"slices": 2}, nullcontext),
            "in parts": (graph, {"parts": 3}, nullcontext),
            "on disk, read whole": (dr.open(file), {"memory": "1G"}, nullcontext),
            "on disk": (dr.open(file), {"memory": "48M"}, over_pages),
            "packed on disk": (dr.open(packed), {"memory": "48M"}, over_pages),
        }
        for name in algorithms.__all__:
            for place, (where, how, setting) in places.items():
                yield f"{name}, {kind}, {place}", partial(run, name, where, how, setting, scratch)
        for name, form in formats.FORMATS.items():
            yield (
                f"{name} of {kind}",
                partial(there_and_back, graph, name, form, scratch),
            )


def run(
    name: str,
    graph: Any,
    how: Mapping[str, Any],
    setting: Callable[[], AbstractContextManager[None]],
    scratch: Path,
) -> None:
    """Call an algorithm with few sources."""
    function = getattr(algorithms, name)
    parameters = inspect.signature(function).parameters
    first = graph.labels.values_of(np.arange(3)).tolist() if graph.labels is not None else [0, 1, 2]
    given = {
        **arguments_for(graph, scratch),
        "source": first[0],
        "sources": first,
        "to": scratch / "pairs",  # no table, which pyarrow would write
        "max_iter": 10,  # arcs on disk are sorted
        "on_limit": "return",
    }
    wanted = {key: value for key, value in given.items() if key in parameters}
    with setting():
        function(graph, **{**wanted, **how})


def there_and_back(graph: dr.Graph, name: str, form: formats.Format, scratch: Path) -> None:
    """Write a graph in a format and read it, and convert it within a budget."""
    file = scratch / f"written{form.extensions[0]}"
    formats.write(graph, file, format=name, allow_loss=True)
    formats.read(file, format=name)
    convert(file, scratch / "converted.drm", memory=64 << 20, format=name)


if __name__ == "__main__":
    main()
