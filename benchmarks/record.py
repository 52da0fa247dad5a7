"""The context of a measurement, and how results are kept."""

from __future__ import annotations

import datetime
import json
import os
import platform
import shlex
import subprocess
import sys
from collections.abc import Callable, Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, TypeAlias

from rich.console import Console
from rich.table import Table

Row: TypeAlias = dict[str, Any]
RESULTS = Path(__file__).parent / "results"
COMMIT_VARIABLE = "DROMOS_COMMIT"
PACKAGES = (
    "numpy", "numba", "scipy", "pyarrow", "networkit", "igraph", "python-graphblas", "rustworkx", "scikit-network",
)  # fmt: skip


def context() -> dict[str, Any]:
    """The machine, the date, the commit, the command and the packages."""
    return {
        "machine": {
            "processor": _processor(),
            "cores": len(os.sched_getaffinity(0)),
            "memory_gib": round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30, 1),
            "system": f"{platform.system()} {platform.machine()}",
        },
        "date": datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%d %H:%M UTC"),
        "commit": _commit(),
        "command": shlex.join(["python", "-m", "benchmarks", *sys.argv[1:]]),
        "python": platform.python_version(),
        "packages": {name: _version(name) for name in PACKAGES},
    }


class Ledger:
    """The rows of one benchmark, saved after each row as JSON and as a Markdown table.

    Files are written under a temporary name and renamed, so that a killed run leaves the rows that it measured (and
    ``"complete": false``). ``keep`` selects the rows of an earlier file to keep; each row has the number of its run,
    and ``runs`` has the date, the commit and the command of each.
    """

    def __init__(
        self,
        name: str,
        *,
        key: Sequence[str] = (),
        order: Callable[[Row], Any] | None = None,
        keep: Callable[[Row], bool] = lambda row: False,
        folder: Path | None = RESULTS,
        device: Row | None = None,
        summary: Callable[[list[Row]], list[Row]] | None = None,
    ) -> None:
        """``device`` describes an accelerator that the measurements ran on; its name is under ``device``.

        ``summary``: makes the rows of a second table from all rows.
        """
        self.name, self.key, self.folder = name, tuple(key), folder
        self._order, self._summary = order, summary
        self._about = context()
        if device is not None:
            self._about["machine"].update(device)
        earlier = load(name, folder) if folder is not None and (folder / f"{name}.json").exists() else {"rows": []}
        self.rows: list[Row] = [row for row in earlier["rows"] if keep(row)]
        self._runs: list[Row] = earlier.get("runs", [_run_of(earlier)]) if self.rows else []
        for row in self.rows:
            row.setdefault("run", len(self._runs) - 1)
        self._runs.append(_run_of(self._about))

    @property
    def done(self) -> frozenset[tuple[Any, ...]]:
        """The keys of the existing rows."""
        return frozenset(self._key(row) for row in self.rows)

    @property
    def file(self) -> Path | None:
        """The JSON file; None if nothing is kept."""
        return None if self.folder is None else self.folder / f"{self.name}.json"

    def add(self, row: Row) -> None:
        """Add a row, replacing an earlier one of the same key, and save all."""
        if self.key:
            self.rows = [other for other in self.rows if self._key(other) != self._key(row)]
        self.rows.append({**row, "run": len(self._runs) - 1})
        if self._order is not None:
            self.rows.sort(key=self._order)
        self.save(complete=False)

    def save(self, *, complete: bool) -> None:
        """Write both files; ``complete`` means that the benchmark ran to its end."""
        if self.file is None:
            return
        self.file.parent.mkdir(parents=True, exist_ok=True)
        text = {**self._about, "complete": complete, "runs": self._runs, "rows": self.rows}
        _replace(self.file, json.dumps(text, indent=2) + "\n")
        about = self._about
        lines = [
            f"# {self.name}",
            "",
            f"{_machine(about['machine'])}; {about['date']}; commit {about['commit']}; `{about['command']}`"
            + ("" if complete else " (not run to its end)"),
            "",
            *_markdown(self.shown),
            *(f"\nRun {n}: {run['date']}; commit {run['commit']}; `{run['command']}`" for n, run in self._used()),
            *(["", *_markdown(self.summary)] if self.summary else []),
        ]
        _replace(self.file.with_suffix(".md"), "\n".join(lines) + "\n")

    @property
    def shown(self) -> list[Row]:
        """The rows to display: the run of a row is included only if there are several runs."""
        if self._used():
            return self.rows
        return [{key: value for key, value in row.items() if key != "run"} for row in self.rows]

    @property
    def summary(self) -> list[Row]:
        """The rows of the second table; none if the benchmark has no such table."""
        return self._summary(self.rows) if self._summary is not None else []

    def _used(self) -> list[tuple[int, Row]]:
        used = {row["run"] for row in self.rows}
        return [(number, run) for number, run in enumerate(self._runs) if number in used] if len(used) > 1 else []

    def _key(self, row: Row) -> tuple[Any, ...]:
        return tuple(row.get(part) for part in self.key)


def load(name: str, folder: Path = RESULTS) -> dict[str, Any]:
    """The kept results of a benchmark."""
    found: dict[str, Any] = json.loads((folder / f"{name}.json").read_text())
    return found


def say(text: str) -> None:
    """Print the progress of a benchmark."""
    print(text, file=sys.stderr, flush=True)


def show(name: str, rows: list[Row], console: Console) -> None:
    """Print rows as a table."""
    names = list(dict.fromkeys(key for row in rows for key in row))
    table = Table(*names, title=name, title_justify="left")
    for row in rows:
        table.add_row(*(_cell(row.get(key)) for key in names))
    console.print(table)


def _markdown(rows: list[Row]) -> list[str]:
    names = list(dict.fromkeys(key for row in rows for key in row))
    return [
        "| " + " | ".join(names) + " |",
        "| " + " | ".join("---" for _ in names) + " |",
        *("| " + " | ".join(_cell(row.get(key)) for key in names) + " |" for row in rows),
    ]


def _cell(value: Any) -> str:
    if value is None:
        return ""
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def _run_of(about: dict[str, Any]) -> Row:
    return {part: about[part] for part in ("date", "commit", "command")}


def _machine(machine: Row) -> str:
    host = f"{machine['processor']}, {machine['cores']} cores"
    return f"{machine['device']}; host: {host}" if "device" in machine else host


def _replace(target: Path, text: str) -> None:
    beside = target.with_name(f".{target.name}.{os.getpid()}")
    beside.write_text(text)
    beside.replace(target)


def _processor() -> str:
    try:
        text = subprocess.run(["lscpu"], capture_output=True, text=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError):
        return platform.processor() or "unknown"
    found = [line.split(":", 1)[1].strip() for line in text.splitlines() if line.startswith("Model name:")]
    return found[0] if found else "unknown"


def _commit() -> str:
    """The commit that is checked out; without a repository, the value of ``DROMOS_COMMIT``."""
    told = os.environ.get(COMMIT_VARIABLE, "")
    return told or _git("rev-parse", "--short", "HEAD") + ("+changes" if _git("status", "--porcelain", "src") else "")


def _git(*words: str) -> str:
    try:
        done = subprocess.run(
            ["git", *words], capture_output=True, text=True, check=False, cwd=Path(__file__).parent.parent
        )
    except OSError:
        return ""
    return done.stdout.strip()


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "not installed"
