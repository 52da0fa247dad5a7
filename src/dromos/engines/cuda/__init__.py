"""The engine for CUDA GPUs. Importing it needs no GPU and no CuPy; making an engine does."""

from dromos.engines.cuda.availability import is_available, why_unavailable
from dromos.engines.cuda.engine import CudaEngine
from dromos.engines.cuda.options import CudaOptions

__all__ = ["CudaEngine", "CudaOptions", "is_available", "why_unavailable"]
