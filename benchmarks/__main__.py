"""``python -m benchmarks [NAME …]``: run benchmarks, print their tables, keep their results after each row."""

from __future__ import annotations

import argparse
import importlib
import inspect
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

from rich.console import Console

from benchmarks import record

BENCHMARKS = (
    "build_and_generate", "text_io", "store_open", "startup", "algorithms", "programs", "paths", "resources",
    "many_sources", "batched_betweenness", "networkx_backend", "second_shelf", "communities", "streaming",
    "stream_memory", "stream_growth", "stream_whole", "packing", "threads", "residual_pagerank", "first_calls",
)  # fmt: skip


def main(arguments: list[str] | None = None) -> int:
    """Run the requested benchmarks; return 1 if an answer differed from a peer's."""
    parser = _parser()
    args = parser.parse_args(arguments)
    if args.gpu:
        from benchmarks.gpu.command import main as measure_on_device

        return measure_on_device(args, parser)
    unknown = set(args.names) - set(BENCHMARKS)
    if unknown:
        parser.error(f"no benchmark {', '.join(sorted(unknown))}; there are {', '.join(BENCHMARKS)}")
    console = Console(highlight=False, width=160)
    differs = False
    for name in args.names or BENCHMARKS:
        module = importlib.import_module(f"benchmarks.{name}")
        ledger = _ledger(name, module, args)
        if not args.chart:
            for row in module.run(**_options(module, args, ledger)):
                ledger.add(row)
            ledger.save(complete=True)
        record.show(name, ledger.shown, console)
        if ledger.summary:
            record.show(f"{name}, in short", ledger.summary, console)
        differs |= any(row.get("differs") for row in ledger.rows)
        if ledger.file is not None and hasattr(module, "chart"):
            module.chart(record.load(name)["rows"], ledger.file.with_suffix(".png"))
    return 1 if differs else 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"which: {', '.join(BENCHMARKS)} (all unless given)")
    parser.add_argument("--gpu", action="store_true", help="the measurements that need a CUDA device")
    parser.add_argument("--no-save", action="store_true", help="print only, leave benchmarks/results as it is")
    parser.add_argument("--resume", action="store_true", help="keep the rows of the last run, measure those it lacks")
    parser.add_argument("--chart", action="store_true", help="measure nothing: table and chart of the last results")
    parser.add_argument("--quick", action="store_true", help="small graphs and little time, nothing saved")
    parser.add_argument("--scale", type=int, default=20, help="2^scale vertices (a grid as large), where it applies")
    parser.add_argument("--budget", type=float, help="seconds for a peer in a row of algorithms")
    parser.add_argument("--limit", type=float, help="seconds after which a cell of algorithms, or a run of paths, ends")
    parser.add_argument("--threads", type=_numbers, default=(), metavar="1,16", help="of threads: only these numbers")
    parser.add_argument("--cases", type=Path, metavar="FOLDER", help="of threads: graphs are kept in FOLDER")
    for option, what in (("graphs", "graphs"), ("rows", "algorithms or programs"), ("peers", "peers")):
        text = f"only these {what}, by the beginnings of their names, apart by commas; other rows are kept"
        parser.add_argument(f"--{option}", type=_names, default=(), metavar="A,B", help=text)
    text = "of streaming and stream_growth: only these of input, input-packed, degree and degree-packed"
    parser.add_argument("--orders", type=_names, default=(), metavar="A,B", help=f"{text}; other rows are kept")
    return parser


def _names(text: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in text.split(",") if part.strip())


def _numbers(text: str) -> tuple[int, ...]:
    return tuple(map(int, _names(text)))


def _options(module: ModuleType, args: argparse.Namespace, ledger: record.Ledger) -> dict[str, Any]:
    """The command-line options that the benchmark takes; its own defaults for those not given."""
    given = {
        "scale": args.scale, "quick": args.quick, "budget": args.budget, "limit": args.limit, "graphs": args.graphs,
        "rows": args.rows, "threads": args.threads, "against": args.peers, "done": ledger.done if args.resume else (),
        "cases": args.cases, "orders": tuple(order.replace("-", ", ") for order in args.orders),
    }  # fmt: skip
    known = inspect.signature(module.run).parameters
    return {name: value for name, value in given.items() if name in known and value is not None}


def _ledger(name: str, module: ModuleType, args: argparse.Namespace) -> record.Ledger:
    some = args.graphs or args.rows or args.peers or args.orders
    keyed = hasattr(module, "KEY")
    return record.Ledger(
        name,
        key=getattr(module, "KEY", ()),
        order=getattr(module, "order", None),
        keep=lambda row: args.chart or (keyed and bool(args.resume or some)),
        folder=None if args.no_save or args.quick else record.RESULTS,
        summary=getattr(module, "summary", None),
    )


if __name__ == "__main__":
    sys.exit(main())
