"""The CPU engine: programs compiled for this processor, run by a team of threads."""

from dromos.engines.cpu.engine import CpuEngine

__all__ = ["CpuEngine"]
