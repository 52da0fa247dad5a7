"""Loading object files so that they can be called without LLVM: on Linux, for x86-64 and 64-bit ARM.

The object file of a kernel is simple: machine code, constants, and calls of a few functions of the C library. Its
sections are placed side by side in memory, relocations are applied, and the memory is made executable. A function of
the C library may be too far away for a call instruction, so such a call goes to a *stub* next to the machine code,
which can jump to any address.
"""

from __future__ import annotations

import ctypes
import mmap
import platform
import struct
import sys
from collections.abc import Iterator
from functools import cache
from typing import Any, Final, NamedTuple

__all__ = ["UnknownObjectError", "can_load", "load_object"]

# The numbers of the ELF format have the names of its specification.
_HEADER: Final = struct.Struct("<16s2HI3QI6H")
_SECTION: Final = struct.Struct("<2I4Q2I2Q")
_SYMBOL: Final = struct.Struct("<I2BH2Q")
_RELOCATION: Final = struct.Struct("<2Qq")
_MAGIC: Final = b"\x7fELF\x02\x01"  # 64 bits, little-endian
_ET_REL: Final = 1
_MACHINES: Final = {"x86_64": 62, "aarch64": 183}
_SHT_SYMTAB, _SHT_RELA, _SHT_NOBITS = 2, 4, 8
_SHF_ALLOC: Final = 2
_R_X86_64_64, _R_X86_64_PC32, _R_X86_64_PLT32 = 1, 2, 4
_R_AARCH64_ABS64, _R_AARCH64_JUMP26, _R_AARCH64_CALL26 = 257, 282, 283
_R_AARCH64_MOVW: Final = {263: 0, 264: 0, 265: 16, 266: 16, 267: 32, 268: 32, 269: 48}
"""Instructions that take 16 bits of an address, and which bits."""
_ADDRESS: Final = (1 << 64) - 1

_ALIGNMENT: Final = 64
_STUB_BYTES: Final = 16
_JUMPS: Final = {"x86_64": bytes.fromhex("ff2500000000"), "aarch64": bytes.fromhex("5000005800021fd6")}
"""Jump to the address that follows the instruction."""
_executable: list[mmap.mmap] = []  # machine code lives as long as the process


class UnknownObjectError(Exception):
    """An object file contains something that this loader does not support."""


class _Section(NamedTuple):
    kind: int
    flags: int
    offset: int
    size: int
    link: int
    info: int


class _Symbol(NamedTuple):
    name: str
    section: int
    """0 for an external symbol."""
    value: int


def can_load() -> bool:
    """Whether this loader supports the object files of this machine.

    >>> can_load() or sys.platform != "linux" or platform.machine() not in ("x86_64", "aarch64")
    True
    """
    return sys.platform == "linux" and platform.machine() in _MACHINES


def load_object(code: bytes, *names: str) -> list[int]:
    """Load an object file; return the addresses of functions in it.

    >>> load_object(b"#!/bin/sh", "kernel")
    Traceback (most recent call last):
    dromos.compiler.loading.UnknownObjectError: this is no object file for x86-64 or 64-bit ARM
    """
    try:
        image = _Image(code)
        image.fill_in()
        found = [image.address_of(name) for name in names]
    except (struct.error, IndexError, KeyError, ValueError) as error:
        raise UnknownObjectError(f"an object file is not as expected: {error!r}") from None
    image.make_executable()
    return found


class _Image:
    """The memory that an object file is loaded into."""

    def __init__(self, code: bytes) -> None:
        self._machine = platform.machine()
        header = _HEADER.unpack_from(code.ljust(_HEADER.size, b"\0"))
        if not code.startswith(_MAGIC) or header[1:3] != (_ET_REL, _MACHINES.get(self._machine)):
            raise UnknownObjectError("this is no object file for x86-64 or 64-bit ARM")
        self._code = code
        self._sections = [_section(code, header[6] + header[11] * number) for number in range(header[12])]
        self._symbols = list(_symbols(code, self._sections))
        self._places: dict[int, int] = {}
        end = 0
        for number, section in enumerate(self._sections):
            if section.flags & _SHF_ALLOC:
                self._places[number] = end
                end += -(-section.size // _ALIGNMENT) * _ALIGNMENT
        self._stubs: dict[str, int] = {}
        self._next_stub = end
        end += _STUB_BYTES * sum(not symbol.section for symbol in self._symbols)
        self._memory = mmap.mmap(-1, max(end, 1), flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
        self._base = ctypes.addressof(ctypes.c_char.from_buffer(self._memory))
        for number, place in self._places.items():
            section = self._sections[number]
            if section.kind != _SHT_NOBITS:
                self._write(place, code[section.offset : section.offset + section.size])

    def address_of(self, name: str) -> int:
        """The address of a function in the object file."""
        for symbol in self._symbols:
            if symbol.section and symbol.name == name:
                return self._address(symbol)
        raise UnknownObjectError(f"an object file has no function {name!r}")

    def fill_in(self) -> None:
        """Apply the relocations of the object file."""
        fill = self._fill_x86 if self._machine == "x86_64" else self._fill_arm
        for section in self._sections:
            if section.kind == _SHT_RELA and section.info in self._places:
                entries = self._code[section.offset : section.offset + section.size]
                for offset, info, addend in _RELOCATION.iter_unpack(entries):
                    fill(self._places[section.info] + offset, info & 0xFFFFFFFF, self._symbols[info >> 32], addend)

    def make_executable(self) -> None:
        """Make the memory executable, and no longer writeable.

        The written code may still be only in the data caches: Linux handles that when memory becomes executable, as it
        does for the libraries that it loads.
        """
        protect = _c_library().mprotect
        protect.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int)
        if protect(self._base, len(self._memory), mmap.PROT_READ | mmap.PROT_EXEC):
            raise UnknownObjectError("the system lets no memory become executable")
        _executable.append(self._memory)

    def _address(self, symbol: _Symbol) -> int:
        if not symbol.section:
            return _external(symbol.name)
        return self._base + self._places[symbol.section] + symbol.value

    def _call_target(self, symbol: _Symbol) -> int:
        """The target for a call instruction with limited range: a stub for external functions."""
        if symbol.section:
            return self._address(symbol)
        if symbol.name not in self._stubs:
            self._write(self._next_stub, _JUMPS[self._machine] + struct.pack("<Q", _external(symbol.name)))
            self._stubs[symbol.name] = self._base + self._next_stub
            self._next_stub += _STUB_BYTES
        return self._stubs[symbol.name]

    def _fill_x86(self, at: int, kind: int, symbol: _Symbol, addend: int) -> None:
        if kind == _R_X86_64_64:
            self._write(at, struct.pack("<Q", self._address(symbol) + addend & _ADDRESS))
        elif kind == _R_X86_64_PLT32 or (kind == _R_X86_64_PC32 and symbol.section):
            self._write(at, struct.pack("<i", self._call_target(symbol) + addend - (self._base + at)))
        else:
            raise UnknownObjectError(f"an object file has an open address of kind {kind}")

    def _fill_arm(self, at: int, kind: int, symbol: _Symbol, addend: int) -> None:
        if kind == _R_AARCH64_ABS64:
            self._write(at, struct.pack("<Q", self._address(symbol) + addend & _ADDRESS))
            return
        (instruction,) = struct.unpack_from("<I", self._memory, at)
        if kind in _R_AARCH64_MOVW:
            part = self._address(symbol) + addend >> _R_AARCH64_MOVW[kind] & 0xFFFF
            instruction = instruction & ~(0xFFFF << 5) | part << 5
        elif kind in (_R_AARCH64_JUMP26, _R_AARCH64_CALL26):
            words = self._call_target(symbol) + addend - (self._base + at) >> 2
            instruction = instruction & ~0x3FFFFFF | words & 0x3FFFFFF
        else:
            raise UnknownObjectError(f"an object file has an open address of kind {kind}")
        self._write(at, struct.pack("<I", instruction))

    def _write(self, at: int, data: bytes) -> None:
        self._memory[at : at + len(data)] = data


def _section(code: bytes, at: int) -> _Section:
    _, kind, flags, _, offset, size, link, info, _, _ = _SECTION.unpack_from(code, at)
    return _Section(kind, flags, offset, size, link, info)


def _symbols(code: bytes, sections: list[_Section]) -> Iterator[_Symbol]:
    table = next(section for section in sections if section.kind == _SHT_SYMTAB)
    names = sections[table.link].offset
    for name, _, _, section, value, _ in _SYMBOL.iter_unpack(code[table.offset : table.offset + table.size]):
        begin = names + name
        yield _Symbol(code[begin : code.index(b"\0", begin)].decode(), section, value)


@cache
def _c_library() -> Any:
    return ctypes.CDLL(None)


@cache
def _external(name: str) -> int:
    """The address of a function of the C library."""
    for open_library in (_c_library, lambda: ctypes.CDLL("libm.so.6")):
        try:
            function: Any = getattr(open_library(), name)
        except (AttributeError, OSError):
            continue
        return ctypes.cast(function, ctypes.c_void_p).value or 0
    raise UnknownObjectError(f"the C library has no function {name!r}")
