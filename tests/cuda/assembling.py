"""Whether the assembler could find anything in a source that it has not judged already in another one.

It takes most of the time of a quick compilation, and what it judges stands in the text that it is given: the form of
every line, which is an instruction and the kinds of its operands, and how much memory is declared. A source whose forms
were all assembled before, and which fits without doubt, is as fine as those were.
"""

from __future__ import annotations

import re
from functools import cache

__all__ = ["Assembled"]

_VIRTUAL = re.compile(rb"(%(?:p|rs|rd|rq|r|fd|f|hh|h))\d+")  # registers, as the compiler numbers them
_COMMENT = re.compile(rb"//.*")
_INSTRUCTION = re.compile(rb"\s*(?:@!?%\w+\s+)?[a-z][a-z0-9_.:]*(?=[\s;])")
_NUMBER = re.compile(rb"(?<![\w$%.])-?\d\w*")
_NAME = re.compile(rb"(?<![\w$%.])[A-Za-z_$][\w$]*")
_SIZE = rb"[^;\n]*\[(\d+)\]"
# In bytes, for any architecture: what all kernels and functions of a source declare together is within them, or it is
# the assembler that counts what each kernel needs.
_MEMORY = {
    re.compile(rb"\.shared\b" + _SIZE): 48 << 10,
    re.compile(rb"\.const\b" + _SIZE): 64 << 10,
}
_ELSEWHERE = b".extern .func"
_PARAMETERS = re.compile(rb"\.entry\s[^()]*\(([^()]*)\)")
_PARAMETER = re.compile(rb"\.param\b(?:[^,\[]*\[(\d+)\])?")
_MOST_PARAMETERS = 4 << 10
_WIDEST = 8  # bytes of a parameter that is no array


class Assembled:
    """The forms of all lines that the assembler has taken."""

    def __init__(self) -> None:
        self._forms: set[bytes] = set()

    def judges(self, ptx: bytes) -> bool:
        """Whether it is already known what the assembler would say of this text."""
        return fits_without_doubt(ptx) and _forms(ptx) <= self._forms

    def add(self, ptx: bytes) -> None:
        """The assembler took this text."""
        self._forms |= _forms(ptx)


def fits_without_doubt(ptx: bytes) -> bool:
    """Whether all memory that is declared is little enough, and every function that is called is in the text."""
    parameters = (sum(int(n or _WIDEST) for n in _PARAMETER.findall(given)) for given in _PARAMETERS.findall(ptx))
    return (
        _ELSEWHERE not in ptx
        and all(sum(map(int, declared.findall(ptx))) <= most for declared, most in _MEMORY.items())
        and all(size <= _MOST_PARAMETERS for size in parameters)
    )


def _forms(ptx: bytes) -> set[bytes]:
    return set(map(_form, set(_VIRTUAL.sub(rb"\1", ptx).splitlines())))


@cache
def _form(line: bytes) -> bytes:
    """The line without numbers and names, but for the instruction itself and the kinds of its registers.

    >>> _form(b"    @%p ld.global.u32 %r, [%rd+16]; // near")
    b'    @%p ld.global.u32 %r, [%rd+0];'
    >>> _form(b"    .param .b32 rows_param_2,")
    b'    .param .b32 name,'
    """
    code = _COMMENT.sub(b"", line).rstrip()
    instruction = _INSTRUCTION.match(code)
    start = instruction.end() if instruction and b".callprototype" not in code else 0
    return code[:start] + _NAME.sub(b"name", _NUMBER.sub(b"0", code[start:]))
