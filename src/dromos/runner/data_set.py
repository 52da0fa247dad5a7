"""Results of ranks as Parquet: a folder with one file per rank, or one file to which ranks send rows in turn."""

from __future__ import annotations

import os
import re
import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from dromos.errors import FileError
from dromos.graph.formats.files import atomic_output, file_errors
from dromos.runner.tables import arrow
from dromos.runner.together import OneProcess, by_first, each
from dromos.runner.writing import check_extension

if TYPE_CHECKING:
    from dromos.runner.result import Result

__all__ = ["is_data_set", "write_data_set", "write_in_turn", "write_rows"]

_PART: Final = re.compile(r"part-\d{5,}\.parquet")


def is_data_set(path: str | os.PathLike[str]) -> bool:
    """Whether ``path`` names a folder of files: it has no extension.

    >>> is_data_set("out/levels"), is_data_set("out/levels.parquet")
    (True, False)
    """
    return not Path(path).suffix


def write_rows(path: str | os.PathLike[str], result: Result, comm: Any) -> None:
    """A data set, or a file of the rows of all ranks of ``comm``, which all call this; None: there are no ranks."""
    if is_data_set(path):
        write_data_set(path, result.to_arrow(), OneProcess() if comm is None else comm)
        return
    check_extension(path)
    if Path(path).suffix.lower() == ".parquet":
        write_in_turn(path, result.to_arrow(), comm)
        return
    whole = result.gather()
    by_first(comm, lambda: whole.write(path))


def write_data_set(path: str | os.PathLike[str], table: Any, comm: Any) -> None:
    """A folder of Parquet files, one per rank with its own rows; every rank calls this.

    The files are written to a folder beside it, which gets its name when all of them are complete. An older data set
    of that name is replaced then; a folder with other files in it is refused.

    >>> import pyarrow as pa, pyarrow.dataset as ds
    >>> from dromos.runner.together import OneProcess
    >>> folder = Path(tempfile.mkdtemp()) / "levels"
    >>> write_data_set(folder, pa.table({"vertex": [0, 1]}), OneProcess())
    >>> [file.name for file in folder.iterdir()], ds.dataset(folder).to_table().num_rows
    (['part-00000.parquet'], 2)
    """
    folder = Path(path)
    beside: Path = by_first(comm, lambda: _folder_beside(folder))
    own = beside / f"part-{comm.Get_rank():05}.parquet"

    def write() -> None:
        with file_errors(folder / own.name, "write"), open(own, "wb") as stream:
            _parquet().write_table(table, stream)

    try:
        failed = each(comm, write)
        if failed is None:
            by_first(comm, lambda: _rename(beside, folder))
    finally:
        shutil.rmtree(beside, ignore_errors=True)  # it is gone where all went well
    if failed is not None:
        raise failed


def write_in_turn(path: str | os.PathLike[str], table: Any, comm: Any) -> None:
    """One Parquet file of all ranks' rows; every rank calls this. The first one writes, and holds one rank's rows at a
    time."""
    if comm.Get_rank() != 0:
        if comm.recv(source=0):  # the file could be written so far
            comm.send(_packed(table), dest=0)
        by_first(comm, lambda: None)
        return

    def write() -> None:
        asked = 1
        try:
            with atomic_output(path) as stream, _parquet().ParquetWriter(stream, table.schema) as writer:
                writer.write_table(table)
                while asked < comm.Get_size():
                    comm.send(True, dest=asked)
                    asked += 1
                    writer.write_table(_unpacked(comm.recv(source=asked - 1)))
        finally:
            for rank in range(asked, comm.Get_size()):  # after an error they wait to be asked
                comm.send(False, dest=rank)

    by_first(comm, write)


def _folder_beside(folder: Path) -> Path:
    """A new folder for the files; refused where the data set could not get its name."""
    if folder.is_dir() and any(not _PART.fullmatch(entry.name) for entry in folder.iterdir()):
        raise FileError("is a folder with other files in it; give a new folder", path=folder)
    if folder.exists() and not folder.is_dir():
        raise FileError("is a file; a data set is a folder: give another name", path=folder)
    with file_errors(folder, "write"):
        beside = Path(tempfile.mkdtemp(prefix=f".{folder.name}.", suffix=".part", dir=folder.parent))
        mask = os.umask(0)
        os.umask(mask)
        beside.chmod(0o777 & ~mask)
    return beside


def _rename(beside: Path, folder: Path) -> None:
    """Give the data set its name; an older one is moved away first and removed after it."""
    with file_errors(folder, "write"):
        old: Path | None = None
        if folder.exists():
            old = Path(tempfile.mkdtemp(prefix=f".{folder.name}.", suffix=".old", dir=folder.parent))
            folder.replace(old)
        beside.replace(folder)
        if old is not None:
            shutil.rmtree(old, ignore_errors=True)


def _parquet() -> Any:
    arrow()  # its error tells what to install
    import pyarrow.parquet as parquet

    return parquet


def _packed(table: Any) -> bytes:
    sink = arrow().BufferOutputStream()
    with arrow().ipc.new_stream(sink, table.schema) as stream:
        stream.write_table(table)
    packed: bytes = sink.getvalue().to_pybytes()
    return packed


def _unpacked(data: bytes) -> Any:
    return arrow().ipc.open_stream(data).read_all()
