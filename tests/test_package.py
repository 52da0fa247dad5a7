"""What `import dromos` brings in, and what the package says of itself."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import subprocess
import sys

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


def test_numba_comes_only_with_kernels() -> None:
    code = (
        "import dromos.graph.formats, dromos.graph.generators, dromos.graph.store, sys;"
        "dromos.graph.formats.format_of('a.mtx'); print('numba' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


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
