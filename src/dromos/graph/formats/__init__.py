"""Reading and writing graphs in common file formats."""

from dromos.graph.formats.base import EdgeBlock, EdgeSource, Format
from dromos.graph.formats.reading import open_edges, read
from dromos.graph.formats.registry import FORMATS, format_of
from dromos.graph.formats.writing import write

__all__ = ["FORMATS", "EdgeBlock", "EdgeSource", "Format", "format_of", "open_edges", "read", "write"]
