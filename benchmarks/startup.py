"""What `import dromos` costs beyond `import numpy`, and how large the CPU install is."""

from __future__ import annotations

import statistics
import subprocess
import sys
import time
from importlib.metadata import distribution, requires
from typing import Any

from packaging.requirements import Requirement


def run(repeats: int = 9) -> list[dict[str, Any]]:
    """Interleaved starts of fresh interpreters, and the sizes of the installed packages."""
    times: dict[str, list[float]] = {"import numpy": [], "import dromos": []}
    for _ in range(repeats):
        for statement, taken in times.items():
            start = time.perf_counter()
            subprocess.run([sys.executable, "-c", statement], check=True)
            taken.append(time.perf_counter() - start)
    numpy_s, dromos_s = (statistics.median(taken) for taken in times.values())
    rows: list[dict[str, Any]] = [
        {"what": "import dromos against import numpy", "ours_s": dromos_s, "peer_s": numpy_s, "extra_s": dromos_s - numpy_s}
    ]
    sizes = {name: _installed_mb(name) for name in sorted(_closure("dromos") - {"dromos"})}
    rows.append(
        {"what": f"installed without pyarrow: {', '.join(sizes)}", "MB": sum(v for k, v in sizes.items() if k != "pyarrow")}
    )
    return rows


def _closure(name: str) -> set[str]:
    found: set[str] = set()
    waiting = [name]
    while waiting:
        package = waiting.pop()
        if package in found:
            continue
        found.add(package)
        for text in requires(package) or []:
            needed = Requirement(text)
            if needed.marker is None or needed.marker.evaluate({"extra": ""}):
                waiting.append(needed.name.lower())
    return found


def _installed_mb(name: str) -> float:
    files = distribution(name).files or []
    return sum(file.size or 0 for file in files) / 1e6
