"""Where a measurement was made, and how it is kept."""

from __future__ import annotations

import datetime
import json
import os
import platform
import shlex
import subprocess
import sys
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

RESULTS = Path(__file__).parent / "results"
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
        "commit": _git("rev-parse", "--short", "HEAD") + ("+changes" if _git("status", "--porcelain", "src") else ""),
        "command": shlex.join(["python", "-m", "benchmarks", *sys.argv[1:]]),
        "python": platform.python_version(),
        "packages": {name: _version(name) for name in PACKAGES},
    }


def save(name: str, rows: list[dict[str, Any]]) -> Path:
    """Write the rows of one benchmark, with their context, as JSON and as a Markdown table."""
    RESULTS.mkdir(exist_ok=True)
    target = RESULTS / f"{name}.json"
    about = context()
    target.write_text(json.dumps({**about, "rows": rows}, indent=2) + "\n")
    lines = [
        f"# {name}",
        "",
        f"{about['machine']['processor']}, {about['machine']['cores']} cores; {about['date']}; "
        f"commit {about['commit']}; `{about['command']}`",
        "",
        *_markdown(rows),
    ]
    target.with_suffix(".md").write_text("\n".join(lines) + "\n")
    return target


def show(name: str, rows: list[dict[str, Any]], console: Console) -> None:
    """Print rows as a table."""
    names = list(dict.fromkeys(key for row in rows for key in row))
    table = Table(*names, title=name, title_justify="left")
    for row in rows:
        table.add_row(*(_cell(row.get(key)) for key in names))
    console.print(table)


def _markdown(rows: list[dict[str, Any]]) -> list[str]:
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


def _processor() -> str:
    try:
        text = subprocess.run(["lscpu"], capture_output=True, text=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError):
        return platform.processor() or "unknown"
    found = [line.split(":", 1)[1].strip() for line in text.splitlines() if line.startswith("Model name:")]
    return found[0] if found else "unknown"


def _git(*words: str) -> str:
    done = subprocess.run(
        ["git", *words], capture_output=True, text=True, check=False, cwd=Path(__file__).parent.parent
    )
    return done.stdout.strip()


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "not installed"
