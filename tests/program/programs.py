"""The usual algorithms as programs: they show that the model can express them, and serve the tests."""

from __future__ import annotations

import numpy as np

import dromos.program as dr


class BFS(dr.Program):
    """Levels and parents: any parent of the level above is correct."""

    source = dr.param(int)
    level = dr.field(np.int32)
    parent = dr.field(dr.ID)
    combine = dr.ANY

    def init(self, v):
        here = v.id == self.source
        return {"level": dr.where(here, 0, -1), "parent": dr.where(here, v.id, -1)}

    def start(self, v):
        return v.id == self.source

    def compute(self, u, edge, v):
        return u.id

    def update(self, v, message):
        new = v.level < 0
        return {"level": dr.where(new, self.superstep + 1, v.level), "parent": dr.where(new, message, v.parent)}

    def active(self, old, new):
        return new.level != old.level


class SSSP(dr.Program):
    source = dr.param(int)
    distance = dr.field(np.float32, init=np.inf)
    combine = dr.MIN
    priority = "distance"

    def init(self, v):
        return dr.where(v.id == self.source, 0.0, np.inf)

    def start(self, v):
        return v.id == self.source

    def compute(self, u, edge, v):
        return u.distance + edge.weight

    def update(self, v, message):
        return dr.minimum(v.distance, message)

    def active(self, old, new):
        return new.distance < old.distance


class SSSPWithParents(SSSP):
    """The parent is sent with the distance; it changes only with a strict improvement, so no cycle can close."""

    distance = dr.field(np.float64)
    parent = dr.field(dr.ID)
    combine = dr.ARGMIN
    priority = None

    def init(self, v):
        return {
            "distance": dr.where(v.id == self.source, 0.0, np.inf),
            "parent": dr.where(v.id == self.source, v.id, -1),
        }

    def compute(self, u, edge, v):
        return u.distance + edge.weight, u.id

    def update(self, v, message):
        distance, parent = message
        better = distance < v.distance
        return {"distance": dr.where(better, distance, v.distance), "parent": dr.where(better, parent, v.parent)}


class Parents(dr.Program):
    """One pass that finds a parent for known distances; correct if all weights are positive."""

    distance = dr.vertex_param(np.float64)
    parent = dr.field(dr.ID, init=-1)
    combine = dr.ANY

    def compute(self, u, edge, v):
        return u.id

    def sends(self, u, edge, v):
        return dr.isfinite(u.distance) & (u.distance + edge.weight == v.distance)

    def update(self, v, message):
        return message

    def active(self, old, new):
        return False


class PageRank(dr.Program):
    damping = dr.param(float, 0.85)
    tolerance = dr.param(float, 1e-9)
    rank = dr.field(np.float64)
    combine = dr.SUM

    @dr.reduction(dr.SUM)
    def dangling(self, v):
        return dr.where(v.out_degree == 0, v.rank, 0.0)

    @dr.reduction(dr.SUM)
    def change(self, old, new):
        return abs(new.rank - old.rank)

    def base(self, v):
        return 1 / self.num_vertices

    def init(self, v):
        return self.base(v)

    def compute(self, u, edge, v):
        return u.rank / u.out_degree

    def update(self, v, message):
        share = message + self.dangling * self.base(v)
        return (1 - self.damping) * self.base(v) + self.damping * share

    def active(self, old, new):
        return True

    def converged(self):
        return self.change < self.tolerance


class PersonalizedPageRank(PageRank):
    teleport = dr.vertex_param(np.float64)

    def base(self, v):
        return v.teleport


class DeltaPageRank(dr.Program):
    """Residual form: a vertex sends what it gathered once, so the order of sending does not matter. Unnormalized."""

    damping = dr.param(float, 0.85)
    tolerance = dr.param(float, 1e-10)
    rank = dr.field(np.float64, init=0.0)
    residual = dr.field(np.float64)
    combine = dr.SUM

    def init(self, v):
        return {"residual": 1 - self.damping}

    def compute(self, u, edge, v):
        return self.damping * u.residual / u.out_degree

    def sent(self, u):
        return {"rank": u.rank + u.residual, "residual": 0.0}

    def update(self, v, message):
        return {"residual": v.residual + message}

    def active(self, old, new):
        return new.residual > self.tolerance


class Components(dr.Program):
    """The least id that reaches a vertex; on an undirected graph, its component."""

    label = dr.field(dr.ID)
    combine = dr.MIN

    def init(self, v):
        return v.id

    def compute(self, u, edge, v):
        return u.label

    def update(self, v, message):
        return dr.minimum(v.label, message)


class BCForward(dr.Program):
    """Brandes, first half: levels, and the number of shortest paths."""

    source = dr.param(int)
    level = dr.field(np.int32)
    paths = dr.field(np.float64)
    combine = dr.SUM

    def init(self, v):
        here = v.id == self.source
        return {"level": dr.where(here, 0, -1), "paths": dr.where(here, 1.0, 0.0)}

    def start(self, v):
        return v.id == self.source

    def compute(self, u, edge, v):
        return u.paths

    def update(self, v, message):
        new = v.level < 0
        return {"level": dr.where(new, self.superstep + 1, v.level), "paths": dr.where(new, message, v.paths)}

    def active(self, old, new):
        return new.level != old.level


class BCBackward(dr.Program):
    """Brandes, second half, on the transpose: from the deepest level up, level by level."""

    depth = dr.param(int)
    level = dr.vertex_param(np.int32)
    paths = dr.vertex_param(np.float64)
    dependency = dr.field(np.float64, init=0.0)
    combine = dr.SUM
    update_on = "all"

    def start(self, v):
        return v.level == self.depth

    def compute(self, u, edge, v):
        return (1 + u.dependency) / u.paths

    def sends(self, u, edge, v):
        return v.level == u.level - 1

    def update(self, v, message):
        return v.dependency + v.paths * message

    def active(self, old, new):
        level = self.depth - self.superstep - 1
        return (new.level == level) & (level > 0)


class KCore(dr.Program):
    """Peeling: a vertex whose degree falls below k leaves, and notifies its neighbors. The core has degree >= k."""

    k = dr.param(int)
    degree = dr.field(np.int32)
    combine = dr.SUM

    def init(self, v):
        return v.out_degree

    def start(self, v):
        return v.degree < self.k

    def compute(self, u, edge, v):
        return 1

    def update(self, v, message):
        return v.degree - message

    def active(self, old, new):
        return (old.degree >= self.k) & (new.degree < self.k)


class SpMV(dr.Program):
    """y = x A: one superstep."""

    x = dr.vertex_param(np.float64)
    y = dr.field(np.float64, init=0.0)
    combine = dr.SUM

    def compute(self, u, edge, v):
        return edge.weight * u.x

    def update(self, v, message):
        return message

    def active(self, old, new):
        return False


class BeliefPropagation(dr.Program):
    """Linearized: b = e + A b H, for two classes that attract their own kind."""

    prior = dr.vertex_param(np.float64, size=2)
    strength = dr.param(float, 0.01)
    rounds = dr.param(int, 5)
    belief = dr.field(np.float64, size=2)
    combine = dr.SUM

    def init(self, v):
        return v.prior

    def compute(self, u, edge, v):
        same, other = self.strength, -self.strength
        return [same * u.belief[0] + other * u.belief[1], other * u.belief[0] + same * u.belief[1]]

    def update(self, v, message):
        return v.prior + message

    def active(self, old, new):
        return True

    def converged(self):
        return self.superstep + 1 >= self.rounds


class WidestPath(dr.Program):
    source = dr.param(int)
    width = dr.field(np.float64)
    combine = dr.MAX

    def init(self, v):
        return dr.where(v.id == self.source, np.inf, 0.0)

    def start(self, v):
        return v.id == self.source

    def compute(self, u, edge, v):
        return dr.minimum(u.width, edge.weight)

    def update(self, v, message):
        return dr.where(message > v.width, message, v.width)


class Reach(dr.Program):
    """Which vertices a source reaches: all messages are the same."""

    source = dr.param(int)
    reached = dr.field(bool)
    combine = dr.OR

    def init(self, v):
        return v.id == self.source

    def start(self, v):
        return v.id == self.source

    def compute(self, u, edge, v):
        return True

    def update(self, v, message):
        return v.reached | message


class ReachSets(dr.Program):
    """Bit i of word w: the vertex is reached from vertex 64 w + i."""

    seen = dr.field(np.uint64, size=2)
    combine = dr.OR

    def init(self, v):
        bit = dr.cast(1, np.uint64) << dr.cast(v.id % 64, np.uint64)
        return {"seen": [dr.where(v.id // 64 == w, bit, np.uint64(0)) for w in range(2)]}

    def compute(self, u, edge, v):
        return u.seen

    def update(self, v, message):
        return v.seen | message


class Hebb(dr.Program):
    """Writes a value on every edge from both of its ends: the shape of training a network."""

    rate = dr.param(float, 0.5)
    signal = dr.field(np.float64)
    strength = dr.edge_field(np.float64)
    combine = dr.SUM

    def init(self, v):
        return {"signal": v.id + 1.0}

    def edge_init(self, u, edge, v):
        return edge.weight

    def compute(self, u, edge, v):
        return edge.strength * u.signal

    def update(self, v, message):
        return {"signal": message}

    def edge_update(self, u, edge, v):
        return edge.strength + self.rate * u.signal * v.signal

    def active(self, old, new):
        return self.superstep < 1


class Handing(dr.Program):
    """Every vertex passes on what it has, forever: there is no queue of active vertices, and no end."""

    kept = dr.field(np.float64, init=0.0)
    given = dr.field(np.float64, init=1.0)
    combine = dr.SUM

    def compute(self, u, edge, v):
        return 0.3 * u.given / (u.out_degree * edge.weight)

    def sent(self, u):
        return {"kept": u.kept + u.given, "given": 0.0}

    def update(self, v, message):
        return {"given": v.given + message}

    def active(self, old, new):
        return True


def examples(n: int, source: int = 0) -> list[dr.Program]:
    """One instance of each terminating program, for a graph of ``n`` vertices."""
    rng = np.random.default_rng(n)
    return [
        BFS(source=source),
        SSSP(source=source),
        SSSPWithParents(source=source),
        Parents(distance=rng.integers(0, 4, n).astype(float)),
        PageRank(damping=0.3),
        PersonalizedPageRank(damping=0.3, teleport=np.full(n, 1 / max(n, 1))),
        DeltaPageRank(damping=0.3),
        Components(),
        BCForward(source=source),
        BCBackward(depth=2, level=rng.integers(-1, 3, n), paths=np.ones(n)),
        KCore(k=2),
        SpMV(x=rng.random(n)),
        BeliefPropagation(prior=rng.random((n, 2)) - 0.5),
        WidestPath(source=source),
        Reach(source=source),
        ReachSets(),
        Hebb(),
    ]
