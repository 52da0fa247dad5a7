"""A striped store: its bytes distributed over files in several folders, one per disk, so that all disks read.

The file of the store's own name is a list of the ``k`` files. Piece ``i`` of the store, one megabyte, lies in file
``i % k``, after a page that states which file of which store it is. Headers, checksums and pages are those of any
store, at the same positions of the whole; only the place of each byte is found through the list. Such a store can be
streamed, but not mapped.
"""

from __future__ import annotations

import json
import os
import secrets
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Final

from dromos.errors import CorruptFileError, FileError, InvalidArgumentError
from dromos.graph.formats.base import Progress, no_progress
from dromos.graph.formats.files import atomic_output, atomic_outputs, file_errors
from dromos.graph.store.header_page import STRIPED, unpack_header
from dromos.graph.store.layout import ALIGNMENT
from dromos.graph.store.origin import OpenedFile, Stripes

__all__ = [
    "is_striped",
    "is_striped_file",
    "pieces_of",
    "read_stripes",
    "read_through",
    "stripe_store",
    "without_old_stripes",
]

_STRIPE_BYTES: Final = 1 << 20


def stripe_store(
    whole: str | os.PathLike[str],
    target: str | os.PathLike[str],
    folders: Sequence[str | os.PathLike[str]],
    *,
    stripe_bytes: int = _STRIPE_BYTES,
    progress: Progress = no_progress,
) -> None:
    """Distribute the store ``whole`` over a file in each of ``folders``; ``target`` is the file to open afterwards.

    ``whole`` is left unchanged; no file gets its final name before everything is written. If ``target`` was a striped
    store, the files that it listed are removed.

    >>> import dromos as dr, tempfile, pathlib
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> dr.write(dr.Graph.from_edges([0, 1], [1, 2]), folder / "one.drm")
    >>> for name in ("a", "b"): (folder / name).mkdir()
    >>> stripe_store(folder / "one.drm", folder / "striped.drm", [folder / "a", folder / "b"])
    >>> dr.bfs(dr.open(folder / "striped.drm"), 0, memory="64M", device="numpy").level.tolist()
    [0, 1, 2]
    """
    places = [Path(folder).absolute() for folder in folders]
    if len(places) < 2 or len({os.path.realpath(place) for place in places}) < len(places):
        raise InvalidArgumentError("stripes need two or more different folders")
    if stripe_bytes <= 0 or stripe_bytes % ALIGNMENT:
        raise InvalidArgumentError(f"stripe_bytes={stripe_bytes} is not a multiple of {ALIGNMENT}")
    whole, target = Path(whole), Path(target)
    with file_errors(whole), open(whole, "rb") as store:
        size = os.fstat(store.fileno()).st_size
        identity = unpack_header(store.read(ALIGNMENT), size, whole).identity.hex()
        store.seek(0)
        # a name of their own, since a store of the same graph and name, in another folder, may lie on the same disks
        mark = secrets.token_hex(4)
        names = [
            place / f"{target.stem}.{mark}.{number}-of-{len(places)}.stripe" for number, place in enumerate(places)
        ]
        told = {
            "identity": identity, "size": size, "stripe": stripe_bytes, "files": [os.fspath(name) for name in names],
        }  # fmt: skip
        text = json.dumps(told, indent=1).encode()
        with (
            without_old_stripes(target),
            _removed_unless_listed_in(target, names),
            atomic_output(target) as listed,
            atomic_outputs(names) as parts,
        ):
            listed.write(STRIPED + f"{zlib.crc32(text):08x}\n".encode() + text)
            listed.flush()
            for number, part in enumerate(parts):
                part.write(_head(identity, number, len(parts)))
            done = 0
            while data := store.read(stripe_bytes):
                number = done // stripe_bytes % len(parts)
                with file_errors(names[number], "write"):  # each disk may be the one that is full
                    parts[number].write(data)
                done += len(data)
                progress(done, size)


@contextmanager
def without_old_stripes(target: Path) -> Iterator[None]:
    """If ``target`` is a striped store and the body replaces it, the files of the old store are removed."""
    before = _stripes_listed_in(target)
    yield
    for name in before - _stripes_listed_in(target):
        with suppress(OSError):
            name.unlink()


@contextmanager
def _removed_unless_listed_in(target: Path, names: Sequence[Path]) -> Iterator[None]:
    """If the body fails before ``target`` is the list of these stripes, those that have their names are removed."""
    try:
        yield
    except BaseException:
        for name in set(names) - _stripes_listed_in(target):
            name.unlink(missing_ok=True)
        raise


def _stripes_listed_in(path: Path) -> set[Path]:
    """The files of a striped store that still belong to it; none if this is no such store, or a damaged one."""
    with suppress(OSError, CorruptFileError, FileError), open(path, "rb") as file:
        beginning = file.read(ALIGNMENT)
        if is_striped(beginning):
            return {Path(part.path) for part in read_stripes(beginning + file.read(), path).files}
    return set()


def is_striped(beginning: bytes) -> bool:
    """Whether a file with this beginning is a list of stripes."""
    return beginning.startswith(STRIPED)


def is_striped_file(path: Path) -> bool:
    """Whether a file is a list of stripes; not so if it cannot be read."""
    with suppress(OSError), open(path, "rb") as file:
        return is_striped(file.read(len(STRIPED)))
    return False


def read_stripes(data: bytes, path: Path) -> Stripes:
    """The files of a striped store, each checked: it exists, is complete, and belongs to this store."""
    crc, _, text = data.removeprefix(STRIPED).partition(b"\n")
    if f"{zlib.crc32(text):08x}".encode() != crc:
        raise CorruptFileError(
            f"the list of stripes (bytes {len(STRIPED)}..{len(data):,}) fails its checksum", path=path
        )
    try:
        told: dict[str, Any] = json.loads(text)
        names, identity, stripe, size = list(told["files"]), told["identity"], int(told["stripe"]), int(told["size"])
    except (ValueError, KeyError, TypeError):
        names, stripe = [], 0
    if not names or stripe <= 0 or stripe % ALIGNMENT:
        raise CorruptFileError("the list of stripes is not valid; write the store again", path=path)
    count = len(names)
    files = []
    for number, name in enumerate(names):
        part = Path(name)
        with file_errors(part):
            missing = not part.exists()
        if missing:
            raise FileError(
                f"No such file; it is stripe {number} of {path}: put it back, or write the store again", path=part
            )
        with file_errors(part), open(part, "rb") as file:
            status = os.fstat(file.fileno())
            if file.read(ALIGNMENT) != _head(identity, number, count):
                raise CorruptFileError(
                    f"this is not stripe {number} of {count} of {path} (by its bytes 0..{ALIGNMENT})", path=part
                )
        rows, rest = divmod(size, stripe * count)
        expected = ALIGNMENT + rows * stripe + min(max(rest - number * stripe, 0), stripe)
        if status.st_size != expected:
            raise CorruptFileError(
                f"stripe {number} of {path} has {status.st_size:,} bytes, not {expected:,}; write the store again",
                path=part,
            )
        files.append(OpenedFile.of(name, status))
    return Stripes(stripe, size, tuple(files))


def pieces_of(stripes: Stripes, position: int, length: int) -> Iterator[tuple[int, int, int, int]]:
    """The pieces of ``length`` bytes at ``position``: file, position in it, and first and last byte of the request.

    >>> stripes = Stripes(4096, 20_000, (None, None))
    >>> list(pieces_of(stripes, 4096, 8192))
    [(1, 4096, 0, 4096), (0, 8192, 4096, 8192)]
    """
    done = 0
    while done < length:
        number, inside = divmod(position + done, stripes.stripe)
        row, file = divmod(number, len(stripes.files))
        end = min(length, done + stripes.stripe - inside)
        yield file, ALIGNMENT + row * stripes.stripe + inside, done, end
        done = end


def read_through(stripes: Stripes, position: int, length: int) -> bytes:
    """Some bytes of the store."""
    found = b""
    for number, at, first, last in pieces_of(stripes, position, length):
        path = stripes.files[number].path
        with file_errors(path), open(path, "rb") as file:
            file.seek(at)
            found += file.read(last - first)
    return found


def _head(identity: str, number: int, count: int) -> bytes:
    told = {"stripe": number, "of": count, "store": identity}
    return (STRIPED + json.dumps(told).encode()).ljust(ALIGNMENT, b"\n")
