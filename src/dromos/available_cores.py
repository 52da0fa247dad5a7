"""The number of cores that this process may use: those of the machine, limited by an affinity mask or a container."""

from __future__ import annotations

import os
import time
from pathlib import Path

__all__ = ["available_cores", "quota_of_group"]

_MOUNT = Path("/sys/fs/cgroup")
_VALID_SECONDS = 1.0  # reading the quota takes some tenths of a millisecond, and every call needs it
_last_read: tuple[float, int | None] | None = None  # when, and the quota


def available_cores() -> int:
    """The number of cores that this process may keep busy at once, at least one.

    >>> available_cores() >= 1
    True
    """
    count = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    quota = _recent_quota()
    return max(1, count if quota is None else min(count, quota))


def _recent_quota() -> int | None:
    """The quota, read at most a second ago."""
    global _last_read
    now, last = time.monotonic(), _last_read
    if last is None or now - last[0] > _VALID_SECONDS:
        _last_read = last = (now, quota_of_group())
    return last[1]


def quota_of_group(mount: Path = _MOUNT, groups: Path = Path("/proc/self/cgroup")) -> int | None:
    """The cores that the control groups of this process allow, rounded up; None if none of them has a limit.

    A limit is an amount of time per period ("200000 100000": two cores). More threads than that use up the group's time
    early in a period, and then all of them are suspended for the rest of it.
    """
    try:
        lines = groups.read_text().splitlines()
    except OSError:
        return None
    limits = []
    for line in lines:
        _, controllers, path = (*line.split(":", 2), "", "")[:3]
        if controllers == "":  # version 2: limits of parent groups apply too
            limits += [_quota(_words(folder / "cpu.max")) for folder in _and_parents(mount, path)]
        elif "cpu" in controllers.split(","):
            names = ("cpu.cfs_quota_us", "cpu.cfs_period_us")
            limits += [
                _quota([word for name in names for word in _words(folder / name)])
                for folder in _and_parents(mount / "cpu", path)
            ]
    known = [limit for limit in limits if limit is not None]
    return min(known) if known else None


def _and_parents(mount: Path, path: str) -> list[Path]:
    """The folders of a group from the mount down; inside a container its own group is what is mounted."""
    parts = [part for part in path.split("/") if part not in ("", "..")]
    return [mount.joinpath(*parts[:depth]) for depth in range(len(parts) + 1)]


def _words(file: Path) -> list[str]:
    try:
        return file.read_text().split()
    except OSError:
        return []


def _quota(words: list[str]) -> int | None:
    if len(words) != 2 or not all(word.isdigit() for word in words) or int(words[1]) == 0:
        return None  # "max", or -1
    return max(1, -(-int(words[0]) // int(words[1])))
