"""Wheels for Linux bring the machine code of the built-in algorithms, so that an installation needs no compiler.

It takes some minutes. A wheel is for processors such as the one that it is built on; with DROMOS_WHEEL=portable it is
for all of its kind, and takes longer. HATCH_BUILD_NO_HOOKS=true leaves machine code out: such a wheel compiles what it
needs, with llvmlite.
"""

from __future__ import annotations

import os
import platform
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class MachineCode(BuildHookInterface):  # type: ignore[type-arg]
    """Compile the kernels, and put them into the wheel."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Before a wheel is built; an editable installation compiles for itself, since its sources change."""
        machine = platform.machine()
        if version == "editable" or sys.platform != "linux" or machine not in ("x86_64", "aarch64"):
            return
        portable = os.environ.get("DROMOS_WHEEL") == "portable"
        root, folder = Path(self.root), Path(tempfile.mkdtemp(prefix="dromos-wheel-"))
        command = [sys.executable, str(root / "tools" / "machine_code.py"), str(folder), *["--portable"] * portable]
        subprocess.run(command, check=True, env={**os.environ, "PYTHONPATH": str(root / "src")})
        for file in folder.iterdir():
            build_data["force_include"][str(file)] = f"dromos/machine_code/{file.name}"
        build_data["pure_python"] = False
        # the code calls functions that every C library of Linux has, and Python's version does not matter to it
        systems = f"manylinux_2_17_{machine}.musllinux_1_1_{machine}" if portable else f"linux_{machine}"
        build_data["tag"] = f"py3-none-{systems}"
