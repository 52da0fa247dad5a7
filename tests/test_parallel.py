"""Teams of threads: from several threads at once, after a fork, under Ctrl-C, and with errors."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from typing import Any

import numpy as np
import pytest

from dromos import parallel
from dromos.available_cores import available_cores
from dromos.compiler import kernels
from dromos.errors import InvalidArgumentError
from dromos.jit import LINE, barrier, kernel, team_memory
from dromos.parallel import MAX_THREADS, THREADS_VARIABLE, num_threads, run_team


def test_the_argument_wins_over_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(THREADS_VARIABLE, "3")
    assert num_threads() == 3
    assert num_threads(5) == 5


def test_without_either_the_cores_of_the_process_are_used(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(THREADS_VARIABLE, raising=False)
    assert num_threads() == min(available_cores(), MAX_THREADS) <= len(os.sched_getaffinity(0))


@pytest.mark.parametrize("bad", [0, -1, MAX_THREADS + 1, 1000, 2.0, True, "2"])
def test_bad_thread_counts_are_refused(bad: object) -> None:
    with pytest.raises(InvalidArgumentError, match="threads"):
        num_threads(bad)  # type: ignore[arg-type]


def test_a_bad_environment_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(THREADS_VARIABLE, "many")
    with pytest.raises(InvalidArgumentError, match=THREADS_VARIABLE):
        num_threads()


@pytest.mark.parametrize("threads", [1, 2, 7])
def test_every_rank_runs_once_and_all_at_the_same_time(threads: int) -> None:
    meeting = threading.Barrier(threads, timeout=30)
    seen = []

    def kernel(rank: int, count: int) -> None:
        meeting.wait()  # passes only if the whole team runs together
        seen.append((rank, count))

    run_team(kernel, threads=threads)
    assert sorted(seen) == [(rank, threads) for rank in range(threads)]


def test_an_error_of_one_thread_reaches_the_caller_and_the_team_lives_on() -> None:
    def kernel(rank: int, count: int) -> None:
        if rank == 1:
            raise RuntimeError("rank 1 fails")

    for _ in range(3):
        with pytest.raises(RuntimeError, match="rank 1 fails"):
            run_team(kernel, threads=3)


def test_teams_run_from_several_threads_at_once() -> None:
    totals = np.zeros(8, dtype=np.int64)

    def kernel(rank: int, count: int, slot: int) -> None:
        totals[slot] += 0  # touch shared memory
        results[slot].append(rank)

    results: list[list[int]] = [[] for _ in range(8)]
    callers = [
        threading.Thread(target=lambda s=slot: [run_team(kernel, s, threads=4) for _ in range(50)]) for slot in range(8)
    ]
    for caller in callers:
        caller.start()
    for caller in callers:
        caller.join()
    assert all(len(ranks) == 200 and sorted(set(ranks)) == [0, 1, 2, 3] for ranks in results)


def test_a_kernel_may_start_a_team_itself() -> None:
    seen = []

    def inner(rank: int, count: int) -> None:
        seen.append(rank)

    run_team(lambda rank, count: run_team(inner, threads=2), threads=2)
    assert sorted(seen) == [0, 0, 1, 1]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_teams_work_in_a_forked_child() -> None:
    code = """
import os
from dromos.parallel import run_team
run_team(lambda rank, count: None, threads=2)
pid = os.fork()
if pid == 0:
    seen = []
    run_team(lambda rank, count: seen.append(rank), threads=2)
    os._exit(0 if sorted(seen) == [0, 1] else 1)
print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
"""
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", code], capture_output=True, text=True, timeout=60, check=True
    )
    assert done.stdout.strip() == "0"


def test_ctrl_c_raises_the_stop_flag_and_waits_for_the_team() -> None:
    code = """
import time, numpy as np
from dromos.parallel import run_team
stop = np.zeros(1, np.int64)
ended = []
def kernel(rank, count):
    if rank == 0:
        print("running", flush=True)
    while not stop[0]:
        time.sleep(0.01)
    ended.append(rank)
try:
    run_team(kernel, threads=2, stop=stop)
except KeyboardInterrupt:
    print("interrupted", sorted(ended), flush=True)
"""
    child = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    assert child.stdout is not None
    assert child.stdout.readline().strip() == "running"
    time.sleep(0.05)
    child.send_signal(signal.SIGINT)
    rest, _ = child.communicate(timeout=60)
    assert rest.strip() == "interrupted [0, 1]"
    assert child.returncode == 0


def test_ctrl_c_just_before_the_caller_waits_is_seen() -> None:
    code = """
import signal, threading, numpy as np
from dromos.parallel import run_team
caller = threading.main_thread().ident
def kernel(rank, count, stop):
    if rank == 0:  # the caller has started the team, and is about to wait for it
        signal.pthread_kill(caller, signal.SIGINT)
    while not stop[0]:
        pass
for _ in range(20):
    stop = np.zeros(1, np.int64)
    try:
        run_team(kernel, stop, threads=2, stop=stop)
    except KeyboardInterrupt:
        print("interrupted", flush=True)
"""
    child = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    try:
        printed, _ = child.communicate(timeout=300)
    finally:
        child.kill()
        child.wait()
    assert printed.split() == ["interrupted"] * 20
    assert child.returncode == 0


# ---- compiled kernels, on threads that do not use Python


@kernel
def note_arguments(thread, threads, pair, whole, small, real, single, truth, unsigned, matrix, memory, out):  # type: ignore[no-untyped-def]
    """Every kind of argument, seen by every thread, with all threads running at once."""
    barrier(memory, thread, threads, 1)
    place = thread * LINE
    out[place] = threads
    out[place + 1] = pair[0][1] + pair[1][1]
    out[place + 2] = whole
    out[place + 3] = small
    out[place + 4] = np.int64(real * 4)
    out[place + 5] = np.int64(single * 4)
    out[place + 6] = truth
    out[place + 7] = np.int64(unsigned >> np.uint64(60))
    out[place + 8] = matrix[1, 2] + 10 * matrix.shape[0] + 100 * matrix.shape[1]
    out[place + 9] = matrix.size


@kernel
def note_thread(thread, threads, out):  # type: ignore[no-untyped-def]
    """Note which threads there are."""
    out[thread] = threads


@kernel
def until_stopped(thread, threads, stop, running):  # type: ignore[no-untyped-def]
    """Work until the stop flag is set."""
    running[0] = 1
    turns = 0
    while stop[0] == 0:
        turns += 1
        running[1] = turns


@pytest.fixture(params=["native", "of Python threads"])
def teams(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """The teams of this system, and those of a system where threads cannot sleep inside compiled code."""
    if request.param != "native":
        monkeypatch.setattr(parallel, "is_supported", lambda: False)
        monkeypatch.setattr(parallel, "native_team", None)


@pytest.mark.usefixtures("teams")
@pytest.mark.parametrize("with_flag", [False, True])
def test_a_kernel_is_compiled_once_and_on_the_calling_thread(with_flag: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    compiled: list[str] = []
    compile_kernel = kernels.load_or_compile

    def note(function: Any, *args: Any, **kwargs: Any) -> Any:
        if function is note_thread.function:  # type: ignore[attr-defined]
            compiled.append(threading.current_thread().name)
        return compile_kernel(function, *args, **kwargs)

    monkeypatch.setattr(kernels, "load_or_compile", note)
    again = kernel(note_thread.function)  # type: ignore[attr-defined]
    stop = np.zeros(1, np.int64) if with_flag else None
    for _ in range(3):
        out = np.zeros(3, np.int64)
        run_team(again, out, threads=3, stop=stop)
        assert out.tolist() == [3, 3, 3]
    assert compiled == [threading.current_thread().name]


@pytest.mark.usefixtures("teams")
def test_ctrl_c_while_a_kernel_is_compiled_goes_on_and_the_next_call_compiles(monkeypatch: pytest.MonkeyPatch) -> None:
    def stop(*args: Any, **kwargs: Any) -> Any:
        raise KeyboardInterrupt

    again, out = kernel(note_thread.function), np.zeros(2, np.int64)  # type: ignore[attr-defined]
    with monkeypatch.context() as patch:
        patch.setattr(kernels, "load_or_compile", stop)
        with pytest.raises(KeyboardInterrupt):
            run_team(again, out, threads=2)
    assert out.tolist() == [0, 0]
    run_team(again, out, threads=2)
    assert out.tolist() == [2, 2]


@pytest.mark.usefixtures("teams")
@pytest.mark.parametrize("threads", [1, 2, 5])
@pytest.mark.parametrize("with_flag", [False, True])
def test_arguments_reach_compiled_kernels_as_they_are(threads: int, with_flag: bool) -> None:
    matrix = np.arange(24, dtype=np.int32).reshape(4, 6)[1:, ::2]  # neither whole nor contiguous
    out = np.zeros(threads * LINE, dtype=np.int64)
    pair = (np.array([5, 6], dtype=np.int64), np.array([7, 8], dtype=np.int64))
    run_team(
        note_arguments, pair, -3, np.uint8(250), 2.5, np.float32(0.25), True, np.uint64(15 << 60), matrix,
        team_memory(threads), out, threads=threads, stop=np.zeros(1, np.int64) if with_flag else None,
    )  # fmt: skip
    expected = [threads, 14, -3, 250, 10, 1, 1, 15, int(matrix[1, 2]) + 30 + 300, 9]
    assert [row[:10].tolist() for row in out.reshape(threads, LINE)] == [expected] * threads


@pytest.mark.usefixtures("teams")
def test_compiled_kernels_run_from_several_threads_at_once() -> None:
    wrong: list[Any] = []

    def call(threads: int) -> None:
        for _ in range(50):
            out = np.zeros(threads, np.int64)
            run_team(note_thread, out, threads=threads)
            if out.tolist() != [threads] * threads:
                wrong.append(out)

    callers = [threading.Thread(target=call, args=(1 + number % 4,)) for number in range(6)]
    for caller in callers:
        caller.start()
    for caller in callers:
        caller.join()
    assert wrong == []


@pytest.mark.parametrize("native", [True, False], ids=["native", "of Python threads"])
def test_ctrl_c_stops_a_compiled_kernel_and_the_team_works_on(native: bool) -> None:
    code = f"""
import os, signal, threading, numpy as np
from dromos import parallel
from dromos.parallel import run_team
from tests.test_parallel import note_thread, until_stopped
if not {native}:
    parallel.is_supported, parallel.native_team = bool, None
stop, running, out = np.zeros(1, np.int64), np.zeros(2, np.int64), np.zeros(2, np.int64)
run_team(note_thread, out, threads=2, stop=stop)
def interrupt():
    while not running[0]:
        pass
    os.kill(os.getpid(), signal.SIGINT)
for _ in range(3):
    stop[0] = running[0] = 0
    threading.Thread(target=interrupt).start()
    try:
        run_team(until_stopped, stop, running, threads=2, stop=stop)
    except KeyboardInterrupt:
        print("interrupted", int(stop[0]), flush=True)
run_team(note_thread, out, threads=2, stop=stop)
pid = os.fork()
if pid == 0:
    out[:] = 0
    run_team(note_thread, out, threads=2, stop=stop)
    os._exit(7 if out.tolist() == [2, 2] else 1)
print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
"""
    child = subprocess.Popen([sys.executable, "-W", "ignore", "-c", code], stdout=subprocess.PIPE, text=True)
    try:
        printed, _ = child.communicate(timeout=300)
    finally:
        child.kill()
        child.wait()
    assert printed.split() == ["interrupted", "1"] * 3 + ["7"]
    assert child.returncode == 0
