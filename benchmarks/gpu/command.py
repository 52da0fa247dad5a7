"""``python -m benchmarks --gpu [NAME …]``: the measurements that need a CUDA device, kept by the device's name."""

from __future__ import annotations

import argparse
import inspect
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from rich.console import Console

from benchmarks import record
from benchmarks.gpu import (
    ablations,
    algorithms,
    beside_cpu,
    betweenness_blocks,
    from_disk,
    hybrid,
    large,
    many_sources,
    small,
    stream_ways,
    streaming,
    whole_calls,
)
from benchmarks.gpu.device import compile_less, describe

__all__ = ["main"]


class Benchmark(NamedTuple):
    """The function that yields rows, the key of a row, and how rows are ordered."""

    run: Callable[..., Iterator[dict[str, Any]]]
    key: tuple[str, ...]
    order: Callable[[dict[str, Any]], Any] | None = None


BENCHMARKS: dict[str, Benchmark] = {
    "small": Benchmark(small.run, small.KEY),
    "algorithms": Benchmark(algorithms.run, algorithms.KEY, algorithms.order),
    "many_sources": Benchmark(many_sources.run, many_sources.KEY),
    "whole_calls": Benchmark(whole_calls.run, whole_calls.KEY),
    "streaming": Benchmark(streaming.run, streaming.KEY),
    "from_disk": Benchmark(from_disk.run, from_disk.KEY),
    "stream_ways": Benchmark(stream_ways.run, stream_ways.KEY),
    "hybrid": Benchmark(hybrid.run, hybrid.KEY),
    "large": Benchmark(large.run, large.KEY),
    "betweenness_blocks": Benchmark(betweenness_blocks.run, betweenness_blocks.KEY),
    "beside_cpu": Benchmark(beside_cpu.run, beside_cpu.KEY),
    **{name: Benchmark(run, ablations.KEY) for name, run in ablations.RUNS.items()},
}


def main(args: argparse.Namespace, parser: argparse.ArgumentParser) -> int:
    """Run the requested benchmarks; return 1 if an answer was wrong."""
    unknown = set(args.names) - set(BENCHMARKS)
    if unknown:
        parser.error(f"no benchmark {', '.join(sorted(unknown))} of a GPU; there are {', '.join(BENCHMARKS)}")
    try:
        about = describe()
        compile_less()
    except Exception as error:  # CuPy missing, a driver missing or too old, no device: each raises its own exception
        parser.exit(1, f"--gpu needs a CUDA device and CuPy: {type(error).__name__}: {error}\n")
    folder = record.RESULTS / about["device"].removeprefix("NVIDIA ").lower().replace(" ", "-")
    wrong = False
    for name in args.names or BENCHMARKS:
        benchmark = BENCHMARKS[name]
        keep = _every if args.resume or args.graphs or args.rows else _none
        ledger = record.Ledger(
            name, key=benchmark.key, order=benchmark.order, keep=keep,
            folder=None if args.no_save or args.quick else folder, device=about,
        )  # fmt: skip
        given = {
            "quick": args.quick, "graphs": args.graphs, "rows": args.rows, "done": ledger.done if args.resume else (),
        }  # fmt: skip
        known = inspect.signature(benchmark.run).parameters
        for row in benchmark.run(**{option: value for option, value in given.items() if option in known}):
            ledger.add(row)
        ledger.save(complete=True)
        record.show(name, ledger.shown, Console(highlight=False, width=200))
        wrong |= any(row.get("differs") for row in ledger.rows)
    return 1 if wrong else 0


def _every(row: dict[str, Any]) -> bool:
    return True


def _none(row: dict[str, Any]) -> bool:
    return False
