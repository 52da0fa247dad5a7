"""A peer whose call never ends and takes no signal, as compiled code may."""

from __future__ import annotations

import ctypes
from typing import Any

from benchmarks.peers import Peer


class Stuck(Peer):
    def connected_components(self) -> Any:
        sleep = ctypes.PyDLL(None).sleep  # holds the interpreter's lock
        while True:
            sleep(1000)


create = Stuck
