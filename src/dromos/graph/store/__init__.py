"""The store: a graph in one file (``.drm``), mapped on open, checksummed, streamed in pages."""

from dromos.graph.store.convert import convert
from dromos.graph.store.external import ORDERS, Conversion, convert_external
from dromos.graph.store.layout import Header, Section
from dromos.graph.store.origin import changed_underneath, identity
from dromos.graph.store.reader import load, read_header
from dromos.graph.store.stored import StoredGraph, open_store
from dromos.graph.store.striped import stripe_store
from dromos.graph.store.verify import Report, verify
from dromos.graph.store.writer import write

__all__ = [
    "ORDERS",
    "Conversion",
    "Header",
    "Report",
    "Section",
    "StoredGraph",
    "changed_underneath",
    "convert",
    "convert_external",
    "identity",
    "load",
    "open_store",
    "read_header",
    "stripe_store",
    "verify",
    "write",
]
