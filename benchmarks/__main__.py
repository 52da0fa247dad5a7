"""``python -m benchmarks [NAME …]``: run benchmarks, print their tables, keep their results."""

from __future__ import annotations

import argparse
import importlib
import inspect

from rich.console import Console

from benchmarks import record

BENCHMARKS = ("build_and_generate", "text_io", "store_open", "startup", "algorithms", "paths", "resources")


def main() -> None:
    """Run what was asked for."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"which: {', '.join(BENCHMARKS)} (all unless given)")
    parser.add_argument("--gpu", action="store_true", help="the measurements that need a CUDA device")
    parser.add_argument("--no-save", action="store_true", help="print only, leave benchmarks/results as it is")
    parser.add_argument("--scale", type=int, default=20, help="2^scale vertices (a grid as large), where it applies")
    parser.add_argument("--budget", type=float, default=10.0, help="seconds for a peer in a row of algorithms")
    parser.add_argument("--quick", action="store_true", help="small graphs and little time, nothing saved")
    args = parser.parse_args()
    if args.gpu:
        parser.exit(0, "no measurement needs a CUDA device yet\n")
    unknown = set(args.names) - set(BENCHMARKS)
    if unknown:
        parser.error(f"no benchmark {', '.join(sorted(unknown))}; there are {', '.join(BENCHMARKS)}")
    console = Console(highlight=False, width=160)
    for name in args.names or BENCHMARKS:
        module = importlib.import_module(f"benchmarks.{name}")
        options = {"scale": args.scale, "quick": args.quick, "budget": args.budget}
        rows = module.run(**{key: options[key] for key in options if key in inspect.signature(module.run).parameters})
        record.show(name, rows, console)
        if not args.no_save and not args.quick:
            saved = record.save(name, rows)
            if hasattr(module, "chart"):
                module.chart(rows, saved.with_suffix(".png"))


if __name__ == "__main__":
    main()
