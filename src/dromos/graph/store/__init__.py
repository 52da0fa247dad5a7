"""The store: a graph in one file (``.drm``), mapped on open, checksummed, streamed in pages."""

from dromos.graph.store.layout import Header, Section
from dromos.graph.store.origin import changed_underneath, identity
from dromos.graph.store.reader import load, read_header
from dromos.graph.store.verify import Report, verify
from dromos.graph.store.writer import write

__all__ = ["Header", "Report", "Section", "changed_underneath", "identity", "load", "read_header", "verify", "write"]
