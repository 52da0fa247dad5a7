"""Every error that Dromos raises on purpose.

    DromosError
    ├── InvalidArgumentError   (ValueError)   an argument has a wrong value, type or shape
    │   ├── ArcsOnDiskError                   something needs the arcs of a graph in memory that stay on disk
    │   ├── UnknownVertexError (LookupError)  a vertex id or label that the graph does not have
    │   ├── UnknownFieldError  (KeyError)     a field that a result does not have
    │   └── UnknownArgumentError (TypeError)  a keyword that a function does not take; suggests one that it does
    ├── GraphDataError         (ValueError)   edges, weights or labels that do not make a graph
    ├── FileError              (OSError)      a file that cannot be opened, read or written
    │   ├── FormatError        (ValueError)   the file's content breaks its format; knows file and line
    │   │   └── CorruptFileError              cut short, flipped bytes, failed checksum
    │   ├── CheckpointError    (ValueError)   the saved state of another run: graph, program, parameters or version
    │   └── UnsupportedFormatError            a format, version, endianness or extension we do not read
    ├── ProgramError           (ValueError)   a program that is not well formed; knows program, function, file, line
    │   ├── UntraceableError   (TypeError)    Python asked a symbol for its value: `if`, `and`, `while`, `int()`
    │   ├── ProgramTypeError   (TypeError)    numbers or vector sizes that do not fit together
    │   └── IllegalPathError                  an execution path that would change this program's answer
    ├── FieldOverflowError     (OverflowError) an integer outgrew the field that should hold it
    ├── AlgorithmError         (RuntimeError) an algorithm has no answer for this graph
    │   ├── ConvergenceError                  the tolerance was not reached within max_iter; has the result
    │   └── NegativeCycleError                distances fall without end; knows a cycle
    ├── VerificationError      (RuntimeError) a result breaks a rule that every right answer obeys
    ├── MissingDependencyError (ImportError)  an optional package is needed; tells the install command
    ├── ClusterError           (RuntimeError) a rank that was started for a call failed, was killed, or did not start
    └── ResourceError          (RuntimeError) the work does not fit the memory, disk or device allowed

A message says what was given, what was expected, and what to do.
"""

from __future__ import annotations

import os
from typing import Any

__all__ = [
    "AlgorithmError",
    "ArcsOnDiskError",
    "CheckpointError",
    "ClusterError",
    "ConvergenceError",
    "CorruptFileError",
    "DeviceError",
    "DromosError",
    "DromosWarning",
    "FieldOverflowError",
    "FileError",
    "FormatError",
    "GraphDataError",
    "IllegalPathError",
    "InvalidArgumentError",
    "MissingDependencyError",
    "NegativeCycleError",
    "ProgramError",
    "ProgramTypeError",
    "ResourceError",
    "UnknownArgumentError",
    "UnknownFieldError",
    "UnknownVertexError",
    "UnsupportedFormatError",
    "UntraceableError",
    "VerificationError",
]


class DromosError(Exception):
    """The base class of all errors that Dromos raises: ``except dromos.DromosError`` catches them all."""

    def __reduce__(self) -> tuple[Any, ...]:
        """For pickle, which would call the class with the message alone: some errors need more to be made.

        A pool of processes waits for ever for an error that cannot be made again on its side.
        """
        return _made_again, (type(self), self.args), self.__dict__


def _made_again(kind: type[DromosError], args: tuple[Any, ...]) -> DromosError:
    error = kind.__new__(kind, *args)
    error.args = args
    return error


class DromosWarning(UserWarning):
    """What was given can mean two things; the message says which one was taken, and how to choose the other."""


class InvalidArgumentError(DromosError, ValueError):
    """An argument has a wrong value, type or shape."""


class ArcsOnDiskError(InvalidArgumentError):
    """Something needs the arcs of a graph in memory that stay on disk (:func:`dromos.open`)."""


class UnknownVertexError(InvalidArgumentError, LookupError):
    """A vertex id or label that the graph does not have."""


class UnknownFieldError(InvalidArgumentError, KeyError):
    """A field that a result does not have; the message names those that it has."""

    def __str__(self) -> str:  # a KeyError would show the message in quotes
        return str(self.args[0])


class UnknownArgumentError(InvalidArgumentError, TypeError):
    """A keyword that a function does not take; the message suggests one that it does."""


class GraphDataError(DromosError, ValueError):
    """Edges, weights or labels that do not make a graph."""


class FileError(DromosError, OSError):
    """A file that cannot be opened, read or written."""

    def __init__(self, message: str, *, path: str | os.PathLike[str] | None = None) -> None:
        self.path = None if path is None else os.fspath(path)
        self.message = message
        super().__init__(f"{self.path}: {message}" if self.path else message)

    def __str__(self) -> str:
        return str(self.args[0])


class FormatError(FileError, ValueError):
    """The content of a file breaks its format; ``path`` and ``line`` say where."""

    def __init__(
        self,
        message: str,
        *,
        path: str | os.PathLike[str] | None = None,
        line: int | None = None,
    ) -> None:
        self.line = line
        super().__init__(message if line is None else f"line {line}: {message}", path=path)


class CorruptFileError(FormatError):
    """A file that was cut short, has flipped bytes, or fails its checksum."""


class CheckpointError(FileError, ValueError):
    """The saved state of another run: of another graph, program, parameters, engine or version."""


class UnsupportedFormatError(FileError):
    """A format, version, endianness or extension that Dromos does not read or write."""


class ProgramError(DromosError, ValueError):
    """A program that is not well formed; ``program``, ``function``, ``file`` and ``line`` say where."""

    def __init__(
        self,
        message: str,
        *,
        program: str | None = None,
        function: str | None = None,
        file: str | None = None,
        line: int | None = None,
    ) -> None:
        self.program, self.function, self.file, self.line = program, function, file, line
        where = ".".join(part for part in (program, function) if part)
        if file is not None:
            where = f"{where} ({file}:{line})" if where else f"{file}:{line}"
        super().__init__(f"{where}: {message}" if where else message)


class UntraceableError(ProgramError, TypeError):
    """Python asked a symbol for its value while a program was traced: ``if``, ``and``, ``while``, ``int()``."""


class ProgramTypeError(ProgramError, TypeError):
    """Numbers or vector sizes in a program that do not fit together."""


class IllegalPathError(ProgramError):
    """An execution path that would change this program's answer; the message tells why, and which paths are legal."""


class FieldOverflowError(DromosError, OverflowError):
    """An integer outgrew the field that should hold it."""


class AlgorithmError(DromosError, RuntimeError):
    """An algorithm has no answer for this graph."""


class ConvergenceError(AlgorithmError):
    """The tolerance was not reached within ``iterations``; ``result`` is what was found until then."""

    def __init__(self, message: str, *, iterations: int, result: Any = None) -> None:
        self.iterations, self.result = iterations, result
        super().__init__(message)


class NegativeCycleError(AlgorithmError):
    """Distances fall without end along ``cycle`` (vertices by label or id, each an edge away from the one before)."""

    def __init__(self, message: str, *, cycle: list[object]) -> None:
        self.cycle = cycle
        super().__init__(message)


class VerificationError(DromosError, RuntimeError):
    """A result breaks a rule that every right answer obeys."""


class MissingDependencyError(DromosError, ImportError):
    """An optional package is needed; the message tells how to install it."""


class ClusterError(DromosError, RuntimeError):
    """A rank that was started for a call failed, was killed, or did not start."""


class ResourceError(DromosError, RuntimeError):
    """The work does not fit the memory, disk or device that it may use; ``needed`` bytes would do, where known."""

    def __init__(self, message: str, *, needed: int | None = None) -> None:
        self.needed = needed
        super().__init__(message)


class DeviceError(ResourceError):
    """A GPU that is not there, too old, too small for the run, or a kernel that it refuses."""
