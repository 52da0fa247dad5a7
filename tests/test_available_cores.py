"""The cores that a process may use: limits of control groups, of version 1 and 2, and of their parents."""

from __future__ import annotations

from pathlib import Path

import pytest

from dromos import available_cores as module
from dromos.available_cores import available_cores, quota_of_group


def write(folder: Path, **files: str) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        (folder / name.replace("__", ".")).write_text(text)


@pytest.mark.parametrize(
    ("text", "cores"),
    [("200000 100000", 2), ("150000 100000", 2), ("50000 100000", 1), ("max 100000", None), ("nonsense", None)],
)
def test_a_limit_of_version_2_is_rounded_up(tmp_path: Path, text: str, cores: int | None) -> None:
    groups = tmp_path / "groups"
    groups.write_text("0::/jobs/one\n")
    write(tmp_path / "jobs" / "one", cpu__max=text)
    assert quota_of_group(tmp_path, groups) == cores


def test_the_limit_of_a_parent_holds_too(tmp_path: Path) -> None:
    groups = tmp_path / "groups"
    groups.write_text("0::/jobs/one\n")
    write(tmp_path / "jobs", cpu__max="300000 100000")
    write(tmp_path / "jobs" / "one", cpu__max="800000 100000")
    assert quota_of_group(tmp_path, groups) == 3


def test_a_limit_of_version_1(tmp_path: Path) -> None:
    groups = tmp_path / "groups"
    groups.write_text("3:cpuset:/\n2:cpu,cpuacct:/job\n")
    write(tmp_path / "cpu" / "job", cpu__cfs_quota_us="400000", cpu__cfs_period_us="100000")
    write(tmp_path / "cpu", cpu__cfs_quota_us="-1", cpu__cfs_period_us="100000")
    assert quota_of_group(tmp_path, groups) == 4


def test_without_groups_there_is_no_limit(tmp_path: Path) -> None:
    assert quota_of_group(tmp_path, tmp_path / "nothing") is None


@pytest.mark.parametrize("quota", [1, 1 << 20])
def test_the_smaller_of_affinity_and_limit_counts(monkeypatch: pytest.MonkeyPatch, quota: int) -> None:
    monkeypatch.setattr(module, "_last_read", None)
    monkeypatch.setattr(module, "quota_of_group", lambda: quota)
    cores = available_cores()
    assert cores == 1 if quota == 1 else 1 <= cores < quota


def test_the_limit_is_kept_for_a_while_and_then_read_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_last_read", None)
    monkeypatch.setattr(module, "_VALID_SECONDS", 1e9)
    quotas = iter((1, 1 << 20))
    monkeypatch.setattr(module, "quota_of_group", lambda: next(quotas))
    assert available_cores() == 1
    assert available_cores() == 1  # another read would give the second quota
    monkeypatch.setattr(module, "_VALID_SECONDS", -1.0)
    available_cores()
    assert next(quotas, None) is None
