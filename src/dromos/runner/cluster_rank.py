"""``python -m dromos.runner.cluster_rank``: a rank that :func:`dromos.cluster` started."""

from __future__ import annotations

import os
import socket
import sys
from multiprocessing.connection import Connection
from pathlib import Path

from dromos.places.cluster import ClusterEngine
from dromos.places.cluster.local.shipping import Rooms
from dromos.places.cluster.local.worker import serve
from dromos.runner.devices import engine_for

__all__ = ["main"]


def main() -> None:
    """Serve the caller by the socket, the leaf engine and the folders that the arguments name."""
    address, leaf, disk, memory = sys.argv[1:5]
    engine = engine_for(f"mpi:{leaf}")
    assert isinstance(engine, ClusterEngine)
    link = socket.socket(socket.AF_UNIX)
    link.connect(address)
    connection = Connection(link.detach())
    rank = engine.comm.Get_rank()
    connection.send((rank, os.getpid()))
    serve(engine, connection, Rooms(Path(disk), Path(memory), f"rank-{rank}-"))


if __name__ == "__main__":
    main()
