"""Dromos as a backend of NetworkX: ``nx.pagerank(G, backend="dromos")``.

NetworkX finds this package by its entry points and calls :data:`dromos.networkx_backend.backend.interface`. A NetworkX
graph is converted to arrays once (:mod:`~dromos.networkx_backend.convert`) and kept in NetworkX's own cache. Every
function here computes from those arrays exactly what NetworkX does: the same values, the same order, the same
exceptions. ``can_run`` refuses calls for which that is impossible, and NetworkX runs its own code.
"""
