"""Ctrl-C ends a run wherever it comes."""

from __future__ import annotations

import subprocess
import sys

import pytest

ENDLESS = """
import os, random, signal, sys, threading
import numpy as np
import dromos as dr

class Endless(dr.Program):
    x = dr.field(np.float64, init=1.0)
    combine = dr.SUM
    def compute(self, u, edge, v): return 0.5 * u.x
    def update(self, v, message): return message
    def active(self, old, new): return True

device, times = sys.argv[1], int(sys.argv[2])
graph = dr.generators.grid(40, 40)
dr.run(Endless(), graph, device=device, path="sync-push-td", max_iter=2)
chance = random.Random(7)
for count in range(times):
    try:
        threading.Timer(0.03 + 0.03 * chance.random(), os.kill, (os.getpid(), signal.SIGINT)).start()
        dr.run(Endless(), graph, device=device, path="sync-push-td")
    except KeyboardInterrupt:
        print(count, flush=True)
"""


@pytest.mark.parametrize(("device", "times"), [("reference", 2), ("cpu", 40)])
def test_ctrl_c_ends_a_run_wherever_it_comes(device, times):
    words = [sys.executable, "-c", ENDLESS, device, str(times)]
    done = subprocess.run(words, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == [str(count) for count in range(times)]
