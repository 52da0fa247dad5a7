"""The cost of `import dromos` beyond `import numpy`, and the size of the wheels of the CPU install."""

from __future__ import annotations

import statistics
import subprocess
import sys
import tempfile
import time
from importlib.metadata import requires
from pathlib import Path
from typing import Any

from packaging.requirements import Requirement


def run(repeats: int = 9) -> list[dict[str, Any]]:
    """Interleaved starts of fresh interpreters, and the sizes of the wheels that pip would install."""
    times: dict[str, list[float]] = {"import numpy": [], "import dromos": []}
    for _ in range(repeats):
        for statement, taken in times.items():
            start = time.perf_counter()
            subprocess.run([sys.executable, "-c", statement], check=True)
            taken.append(time.perf_counter() - start)
    numpy_s, dromos_s = (statistics.median(taken) for taken in times.values())
    wheels = _wheel_sizes()
    without = {name: size for name, size in wheels.items() if name != "pyarrow"}
    return [
        {"what": "import dromos, against import numpy", "ours": dromos_s, "peer": numpy_s, "unit": "s"},
        {"what": "extra over import numpy", "ours": dromos_s - numpy_s, "unit": "s", "target": "< 0.3"},
        {
            "what": f"{len(without)} wheels without pyarrow",
            "ours": sum(without.values()),
            "unit": "MB",
            "target": "< 150",
        },
        {"what": "pyarrow's wheel", "ours": wheels.get("pyarrow"), "unit": "MB"},
    ]


def _wheel_sizes() -> dict[str, float]:
    """Megabytes of each wheel of Dromos's own dependencies and theirs."""
    needed = [text for text in requires("dromos") or [] if not Requirement(text).marker]
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([sys.executable, "-m", "pip", "download", "--quiet", "--dest", folder, *needed], check=True)
        return {wheel.name.split("-")[0]: wheel.stat().st_size / 1e6 for wheel in Path(folder).iterdir()}
