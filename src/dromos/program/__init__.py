"""Active-Compute-Combine: a graph algorithm as a small declarative program, traced to an IR that engines run.

>>> import numpy as np
>>> import dromos.program as dr
>>> class WidestPath(dr.Program):
...     source = dr.param(int)
...     width = dr.field(np.float32)
...     combine = dr.MAX
...     def init(self, v): return dr.where(v.id == self.source, np.inf, 0.0)
...     def start(self, v): return v.id == self.source
...     def compute(self, u, edge, v): return dr.minimum(u.width, edge.weight)
...     def update(self, v, message): return dr.maximum(v.width, message)
>>> facts = dr.analyse(WidestPath.typed(dr.GraphTypes(weight=np.dtype(np.float32))))
>>> facts.monotone, facts.legal["async-pull-td"]
('width', None)
"""

from dromos.program.analysis import Analysis, analyse
from dromos.program.declare import edge_field, edge_param, field, param, reduction, vertex_param
from dromos.program.evaluate import evaluate
from dromos.program.expr import Expr
from dromos.program.functions import (
    absolute,
    arctan,
    cast,
    ceil,
    cos,
    exp,
    expm1,
    floor,
    isfinite,
    isnan,
    log,
    log1p,
    maximum,
    minimum,
    sin,
    sqrt,
    tan,
    tanh,
    where,
)
from dromos.program.ir import FieldSpec, ParamSpec, ProgramIR
from dromos.program.model import Program
from dromos.program.monoid import AND, ANY, ARGMAX, ARGMIN, MAX, MIN, OR, SUM, Monoid
from dromos.program.randomness import random
from dromos.program.typed import TypedProgram
from dromos.program.types import ID, GraphTypes
from dromos.program.values import Value, Vector

__all__ = [
    "AND",
    "ANY",
    "ARGMAX",
    "ARGMIN",
    "ID",
    "MAX",
    "MIN",
    "OR",
    "SUM",
    "Analysis",
    "Expr",
    "FieldSpec",
    "GraphTypes",
    "Monoid",
    "ParamSpec",
    "Program",
    "ProgramIR",
    "TypedProgram",
    "Value",
    "Vector",
    "absolute",
    "analyse",
    "arctan",
    "cast",
    "ceil",
    "cos",
    "edge_field",
    "edge_param",
    "evaluate",
    "exp",
    "expm1",
    "field",
    "floor",
    "isfinite",
    "isnan",
    "log",
    "log1p",
    "maximum",
    "minimum",
    "param",
    "random",
    "reduction",
    "sin",
    "sqrt",
    "tan",
    "tanh",
    "vertex_param",
    "where",
]
