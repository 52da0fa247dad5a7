"""Results as tables of other libraries, files, pages and pictures: methods of :class:`~dromos.runner.result.Result`."""

from __future__ import annotations

import os
import warnings
from dataclasses import make_dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from dromos.dtypes import Array
from dromos.errors import DromosWarning, InvalidArgumentError
from dromos.file_names import file_name
from dromos.graph.arrow_numbers import numbers_to_arrow
from dromos.runner.host import on_host
from dromos.runner.tables import arrow, arrow_column, named_arrow, pandas, polars

if TYPE_CHECKING:
    from dromos.runner.report.notebook import NotebookPage
    from dromos.runner.result import Result

__all__ = ["arrow_stream", "plot", "report", "rows", "to_arrow", "to_pandas", "to_polars", "write"]

_MANY_ROWS = 50_000


def to_arrow(self: Result) -> Any:
    """A ``pyarrow.Table``: a column of vertices (labels or ids), then the fields; not gathered, this rank's rows."""
    pa, labels, own = arrow(), self._graph.labels, self._own_rows
    first: dict[str, Any] = {}
    if self._index is None and labels is None:
        first = {"vertex": numbers_to_arrow(self.vertices)}
    elif self._index is None and labels is not None:
        first = {"vertex": labels.to_arrow() if own is None else labels.to_arrow()[own.first : own.last]}
    return pa.table({**first, **{name: _arrow_column(self, name) for name in self._table()}})


def _arrow_column(self: Result, name: str) -> Any:
    values, labels = on_host(self[name]), self._graph.labels
    if name in self._vertex_fields and labels is not None and values.ndim == 1:
        return named_arrow(values, labels)  # of the same type on every rank, also where there is no vertex to name
    return arrow_column(self._shown(name, values))


def to_pandas(self: Result) -> Any:
    """A ``pandas.DataFrame``: a column of vertices (labels or ids), then the fields."""
    first = {"vertex": self.vertices} if self._index is None else {}
    fields = {name: self._shown(name, on_host(self[name])) for name in self._table()}
    return pandas().DataFrame(
        {**first, **{name: list(column) if column.ndim == 2 else column for name, column in fields.items()}}
    )


def to_polars(self: Result) -> Any:
    """A ``polars.DataFrame``: a column of vertices (labels or ids), then the fields.

    >>> import dromos as dr
    >>> dr.bfs(dr.generators.path(3), 0, device="reference").to_polars().columns
    ['vertex', 'level', 'parent']
    """
    return polars().from_arrow(to_arrow(self))


def arrow_stream(self: Result, requested_schema: object = None) -> object:
    """The table through Arrow's C interface: ``pyarrow.table(result)``, DuckDB and others accept a result directly.

    >>> import pyarrow, dromos as dr
    >>> pyarrow.table(dr.bfs(dr.generators.path(3), 0, device="reference")).column_names
    ['vertex', 'level', 'parent']
    """
    return to_arrow(self).__arrow_c_stream__(requested_schema)


def rows(self: Result, dtype: Any = None, copy: bool | None = None) -> Array:
    """The table as an array of objects, one per row; ``pandas.DataFrame(result)`` uses this.

    That takes tens of microseconds per row; :meth:`to_pandas` makes the same frame much faster.

    >>> import pandas, dromos as dr
    >>> pandas.DataFrame(dr.bfs(dr.generators.path(3), 0, device="reference")).columns.tolist()
    ['vertex', 'level', 'parent']
    """
    if dtype is not None and np.dtype(dtype) != object:
        raise InvalidArgumentError(
            f"a result of {self._name} is a table, not an array of {np.dtype(dtype)}; use one of its columns, such as "
            f"result[{self._main_field()!r}]"
        )
    first = {"vertex": self.vertices} if self._index is None else {}
    columns = {**first, **{name: self._shown(name, on_host(self[name])) for name in self._table()}}
    count = len(next(iter(columns.values())))
    if count > _MANY_ROWS:
        slowly = (
            f"{count:,} rows are converted one by one, which is slow; result.to_pandas() makes the same table at once"
        )
        warnings.warn(slowly, DromosWarning, stacklevel=2)
    row = _row_class(tuple(columns))
    found = np.empty(count, dtype=object)
    found[:] = list(map(row, *(column.tolist() for column in columns.values())))
    return found


@cache
def _row_class(columns: tuple[str, ...]) -> type[Any]:
    """One class for all tables of these columns, so that rows of two results compare."""
    return make_dataclass("Row", columns)


def write(self: Result, path: str | os.PathLike[str]) -> None:
    """Write the table to a ``.parquet``, ``.csv``, ``.json`` or ``.npz`` file, or to a folder of Parquet files.

    A path without an extension is a folder: a data set with one file per rank. If a result stayed with the ranks
    (``gather=False``), all of them must call this.

    - JSON: a number that is not finite is null.
    - CSV: a vector field is one column per component.
    - NPZ: a field of labels with missing values, such as ``parent``, comes with an array of truth values,
      ``parent_present``.
    """
    from dromos.runner.data_set import is_data_set, write_rows
    from dromos.runner.writing import write_columns

    path = file_name(path, "result.parquet")
    if is_data_set(path) or self._own_rows is not None:
        write_rows(path, self, None if self._own_rows is None else self._own_rows.comm)
        return
    first = {"vertex": self.vertices} if self._index is None else {}
    write_columns(path, {**first, **{name: self._shown(name, on_host(self[name])) for name in self._table()}})


def report(self: Result, path: str | os.PathLike[str] | None = None, *others: Result) -> NotebookPage | None:
    """Write an HTML page that explains the run; with ``others``, it compares the runs.

    The page shows the graph, the supersteps, the paths and their reasons, predictions and the distribution of the
    answer. It needs no network. Without a ``path`` nothing is written, and a notebook shows the page.

    >>> import tempfile, pathlib
    >>> import dromos as dr
    >>> g = dr.generators.path(4)
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "run.html"
    >>> dr.bfs(g, 0, device="reference").report(file, dr.bfs(g, 1, device="reference"))
    >>> "Supersteps" in file.read_text()
    True
    >>> dr.bfs(g, 0, device="reference").report()
    <the report of bfs: shown by a notebook; report("run.html") writes it>
    """
    from dromos.runner.report import page, write_report
    from dromos.runner.report.notebook import NotebookPage

    self._require_all_rows("report(…)")
    if path is None:
        return NotebookPage(self.name, page([self, *others]))
    write_report([self, *others], file_name(path, "run.html"))
    return None


def plot(self: Result, by: str | None = None, axes: Any = None) -> Any:
    """Draw the distribution of a field and its greatest values with matplotlib; returns both axes.

    ``by`` names the field, by default the first. ``axes`` are two axes to draw into.

    >>> import matplotlib
    >>> matplotlib.use("Agg")  # no window
    >>> import dromos as dr
    >>> left, right = dr.pagerank(dr.generators.star(5), device="numpy").plot()
    >>> left.get_xlabel(), right.get_yticklabels()[0].get_text()
    ('rank', '0')
    """
    from dromos.runner.plot import plot_result

    return plot_result(self, by, axes)
