"""Graphs: CSR, slices, builders, generators, formats and the store."""
