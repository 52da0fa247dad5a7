"""Translate the IR to source code: one package per backend, and the cache that holds the generated modules."""

from dromos.codegen.cache import cache_folder, load

__all__ = ["cache_folder", "load"]
