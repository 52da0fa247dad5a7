"""Skeletons with the flags of a program put in mean what they meant."""

from __future__ import annotations

import ast
from itertools import product
from typing import Any

import pytest

from dromos.codegen.python.folding import fold_flags
from dromos.codegen.python.hooks import skeleton_flags
from dromos.engines.cpu import emit
from dromos.program import GraphTypes, Program, analyse
from tests.program import programs

FLAGS = ("A", "B", "C")
TEXT = '''
def kept(x):  # a comment
    return x

def chosen(x):
    """What branches lead to."""
    out = []
    if A or (x > 1 and not B):
        out.append(1)
    elif B and C:
        out.append(2)
    else:
        if not (A or C):
            out.append(3)
    while x > 0 and not (B and C):
        x -= 1
        out.append(x if A and not C else -x)
        if C:
            continue
        out.append((x and A, x or B))
    for y in range(3 if B or C else 0):
        if C and not A and y:
            out.append(y)
    if A and B:
        out.append(4)
    return out
'''


@pytest.mark.parametrize("values", list(product([False, True], repeat=len(FLAGS))))
def test_the_same_is_computed(values: tuple[bool, ...]) -> None:
    flags = dict(zip(FLAGS, values, strict=True))
    folded = fold_flags(TEXT, flags)
    assert "def kept(x):  # a comment" in folded
    assert not {node.id for node in ast.walk(ast.parse(folded)) if isinstance(node, ast.Name)} & set(FLAGS)
    plain: dict[str, Any] = dict(flags)
    short: dict[str, Any] = {}
    exec(TEXT, plain)
    exec(folded, short)
    for x in range(4):
        assert repr(short["chosen"](x)) == repr(plain["chosen"](x))


@pytest.mark.parametrize("skeleton", ["asynchronous", "claiming", "offering_blocks", "ordered", "slices", "supersteps"])
@pytest.mark.parametrize("program", [programs.BFS, programs.PageRank])
def test_kernels_have_no_flags_left(skeleton: str, program: type[Program]) -> None:
    typed = program.typed(GraphTypes())
    flags = skeleton_flags(typed, analyse(typed))
    text = emit.module_text(typed, analyse(typed), skeleton)
    functions = [node for node in ast.parse(text).body if isinstance(node, ast.FunctionDef)]
    assert "barrier" in text
    assert not {node.id for body in functions for node in ast.walk(body) if isinstance(node, ast.Name)} & set(flags)
    assert "# helpers " in text  # their digest is part of the key
