"""What `import dromos` imports, and the package's metadata."""

from __future__ import annotations

import ast
import importlib
import inspect
import pkgutil
import subprocess
import sys
from pathlib import Path

import pytest

import dromos

HEAVY = ("numba", "llvmlite", "scipy", "pyarrow", "cupy", "mpi4py", "matplotlib", "networkx", "pandas", "typer", "rich")


def test_import_brings_in_nothing_heavy() -> None:
    code = f"import dromos, sys; print([m for m in {HEAVY!r} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_reading_the_version_and_names_imports_nothing_more() -> None:
    assert dromos.__version__.count(".") >= 2
    assert set(dromos.__all__) <= set(dir(dromos))
    for name in dromos.__all__:
        assert getattr(dromos, name) is not None


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'pagerang'"):
        dromos.pagerang  # noqa: B018


def test_the_compiler_comes_only_with_kernels() -> None:
    code = (
        "import dromos.graph.formats, dromos.graph.generators, dromos.graph.store, sys;"
        "dromos.graph.formats.format_of('a.mtx'); print('llvmlite' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


def test_no_module_imports_numba() -> None:
    """Numba is the oracle of the compiler's tests, and not available to users."""
    for path in Path(dromos.__path__[0]).rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        for node in ast.walk(ast.parse(text)) if "numba" in text else ():
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            assert not [name for name in names if name.partition(".")[0] == "numba"], path


WITHOUT_NUMBA = """
import sys
sys.modules["numba"] = None
import numpy as np
import dromos as dr
from dromos.compiling import note_kernels_are_loaded
from dromos.cli import app
from typer.testing import CliRunner
note_kernels_are_loaded()  # nothing is left to NumPy
g = dr.generators.rmat(10, 8, seed=1)
both = dr.Graph.from_edges(*np.random.default_rng(1).integers(0, 300, (2, 2000)), directed=False)
weighted = dr.Graph.from_edges([0, 1, 2], [1, 2, 0], [0.5, 1.5, 2.5])
for path in ("g.txt", "g.mtx", "g.drm"):
    both.write(path)
    assert dr.read(path).num_edges == both.num_edges
for graph in (g, both):
    for algorithm in (dr.pagerank, dr.connected_components):
        algorithm(graph, device="cpu").verify()
dr.bfs(g, 0, device="cpu").verify()
dr.sssp(weighted, 0, device="cpu").verify()
for algorithm in (dr.core_numbers, dr.triangles, dr.louvain, dr.leiden, dr.label_propagation, dr.betweenness):
    algorithm(both, device="cpu")
dr.closeness(both, device="cpu")
dr.bfs(both.transpose, 0, device="cpu")
dr.bfs(dr.open("g.drm"), 0, memory="8M", device="cpu")
import networkx as nx
nx.pagerank(nx.path_graph(50), backend="dromos")
nx.shortest_path_length(nx.path_graph(50), 0, 49, backend="dromos")
result = CliRunner().invoke(app, ["bfs", "g.txt", "--source", "0", "--device", "cpu"])
assert result.exit_code == 0, result.output
print("done")
"""


def test_everything_works_without_numba(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT_NUMBA], capture_output=True, text=True, timeout=600, check=False, cwd=tmp_path
    )
    assert done.stdout.strip() == "done", done.stderr


def test_scipy_is_needed_by_verifiers_alone() -> None:
    code = (
        "import sys; sys.modules['scipy'] = None\n"
        "import dromos as dr\n"
        "g = dr.Graph.from_edges([0, 1, 2], [1, 2, 0])\n"
        "r = dr.pagerank(g); dr.leiden(dr.generators.cycle(6))\n"
        "assert g.transpose.targets.tolist() == [2, 0, 1]\n"
        "for call in (dr.connected_components(g).verify, g.to_scipy):\n"
        "    try: call()\n"
        "    except dr.errors.MissingDependencyError as error: print(error)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.count("pip install 'dromos[scipy]'") == 2


def test_pyarrow_is_needed_for_tables_alone(tmp_path) -> None:
    code = (
        "import sys; sys.modules['pyarrow'] = None\n"
        "import importlib.util as u; find = u.find_spec\n"
        "u.find_spec = lambda name: None if name == 'pyarrow' else find(name)\n"
        "import dromos as dr\n"
        "g = dr.Graph.from_edges(['ada', 'bob'], ['bob', 'cy']); r = dr.bfs(g, 'ada')\n"
        "g.write('g.txt'); assert dr.read('g.txt').num_edges == 2\n"
        "calls = [lambda: g.write('g.csv'), lambda: g.write('g.txt.zst'), lambda: r.write('r.parquet'), r.to_arrow]\n"
        "for call in calls:\n"
        "    try: call()\n"
        "    except dr.errors.MissingDependencyError as error: print(error)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=tmp_path)
    assert done.stdout.count("pip install pyarrow") == 4
    assert [path.name for path in tmp_path.iterdir()] == ["g.txt"]


def test_tables_of_numbers_do_not_import_pandas(tmp_path: Path) -> None:
    code = (
        "import sys, dromos as dr\n"
        "dr.write(dr.Graph.from_edges([7, 8], [8, 9], [0.5, 2.0]), 'g.parquet')\n"
        "found = dr.bfs(dr.read('g.parquet'), 0, device='numpy')\n"
        "found.write('levels.parquet'), found.write('levels.csv'), dr.all_pairs(dr.read('g.parquet'), 'a.parquet')\n"
        "print('pyarrow' in sys.modules, 'pandas' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=tmp_path)
    assert done.stdout.split() == ["True", "False"]


def test_the_logger_is_quiet_until_asked() -> None:
    code = "import dromos, logging; logging.getLogger('dromos.read').warning('a note for who listens')"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stderr == ""


def _public_modules() -> list[str]:
    found = []
    for module in pkgutil.walk_packages(dromos.__path__, "dromos."):
        last = module.name.rpartition(".")[2]
        if not last.startswith("_") and not last.endswith("_kernels"):
            found.append(module.name)
    return found


@pytest.mark.parametrize("name", _public_modules())
def test_every_public_function_has_a_docstring(name: str) -> None:
    module = importlib.import_module(name)
    for public in getattr(module, "__all__", ()):
        value = getattr(module, public)
        if inspect.isfunction(value) or inspect.isclass(value):
            assert inspect.getdoc(value), f"{name}.{public} has no docstring"
