"""The engine for CUDA GPUs. Importing it needs no GPU and no CuPy; making an engine does.

Every call checks whether there is a GPU; only if there is one, the engine is loaded.
"""

from typing import TYPE_CHECKING, Any

from dromos.engines.cuda.availability import is_available, why_unavailable
from dromos.engines.cuda.options import CudaOptions

if TYPE_CHECKING:
    from dromos.engines.cuda.engine import CudaEngine

__all__ = ["CudaEngine", "CudaOptions", "is_available", "why_unavailable"]


def __getattr__(name: str) -> Any:
    if name == "CudaEngine":
        from dromos.engines.cuda.engine import CudaEngine

        return CudaEngine
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
