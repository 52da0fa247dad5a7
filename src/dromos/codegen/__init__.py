"""From the IR to source code: one package a backend, and the cache that holds what they write."""

from dromos.codegen.cache import cache_folder, load

__all__ = ["cache_folder", "load"]
