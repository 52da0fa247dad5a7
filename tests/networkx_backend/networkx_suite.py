"""A plugin of pytest for NetworkX's own tests: which of their calls reached the backend, told at the end.

``make test-networkx`` runs them with it. NetworkX then sends every call of a function to the backend that ``can_run``
allows, converts its arguments without the cache, and compares graphs that come back with its own.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

import networkx as nx

from dromos.networkx_backend.backend import Interface
from dromos.networkx_backend.registry import REGISTRY

_calls: Counter[str] = Counter()
_allowed: Counter[str] = Counter()
_refused_later: Counter[str] = Counter()

_dispatchable = nx.utils.backends._dispatchable
_can_backend_run, _attribute = _dispatchable._can_backend_run, Interface.__getattr__


def _count_call(self: Any, backend_name: str, args: Any, kwargs: Any) -> bool:
    allowed: bool = _can_backend_run(self, backend_name, args, kwargs)
    if backend_name == "dromos":
        _calls[self.name] += 1
        _allowed[self.name] += allowed
    return allowed


def _count_refusal(self: Interface, name: str) -> Any:
    function = _attribute(self, name)

    def run(*args: Any, **kwargs: Any) -> Any:
        try:
            return function(*args, **kwargs)
        except NotImplementedError:
            _refused_later[name] += 1
            raise

    return run


def pytest_configure(config: Any) -> None:
    _dispatchable._can_backend_run = _count_call
    Interface.__getattr__ = _count_refusal  # type: ignore[method-assign]


def pytest_sessionfinish(session: Any) -> None:
    if hasattr(session.config, "workeroutput"):
        session.config.workeroutput["dromos"] = [dict(one) for one in (_calls, _allowed, _refused_later)]


def pytest_testnodedown(node: Any, error: Any) -> None:
    for total, part in zip((_calls, _allowed, _refused_later), node.workeroutput.get("dromos", ()), strict=False):
        total.update(part)


def pytest_terminal_summary(terminalreporter: Any) -> None:
    calls, reached = _calls.total(), _allowed.total() - _refused_later.total()
    ours = sum(_calls[name] for name in REGISTRY)
    if not ours:
        terminalreporter.write_line("No call of a function that the Dromos backend has.")
        return
    terminalreporter.write_line(
        f"Dromos answered {reached:,} of {calls:,} calls ({reached / calls:.0%}), and of the {ours:,} calls of the "
        f"{len(REGISTRY)} functions that it has {reached / ours:.0%}; {sum(_calls[name] > 0 for name in REGISTRY)} of "
        "these were called."
    )
    left = Counter({name: _calls[name] - _allowed[name] + _refused_later[name] for name in REGISTRY})
    listed = ", ".join(f"{name} {count:,}" for name, count in left.most_common(8) if count)
    terminalreporter.write_line(f"Most often left to NetworkX: {listed or 'none'}.")
