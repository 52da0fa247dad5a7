"""Dromos as a backend of NetworkX: ``nx.pagerank(G, backend="dromos")``.

NetworkX finds this package by its entry points and calls :data:`dromos.networkx_backend.backend.interface`. A NetworkX
graph is converted to arrays once (:mod:`~dromos.networkx_backend.convert`), kept in NetworkX's own cache, and every
function here answers from those arrays exactly as NetworkX does: the same values, the same order, the same exceptions.
What cannot be answered so is refused by ``can_run``, and NetworkX runs its own code.
"""
