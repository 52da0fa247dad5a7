"""A neural network as a graph: a multi-layer perceptron that learns exclusive-or (SIMD-X, section 3.7).

Neurons are vertices, connections are edges with weights. A pair of programs makes one step of training by gradient
descent, on all samples at once: a field is a vector with one component per sample.

- `Forward`: activations flow along the edges, layer by layer;
- `Backward`: errors flow back along the transpose, and every edge that carried one changes its weight by it and by the
  activation at its other end.

    python examples/mlp.py
"""

from __future__ import annotations

import numpy as np

import dromos as dr

INPUTS = np.array([[0, 0], [0, 1], [1, 0], [1, 1]], dtype=float)
TARGETS = np.array([[0], [1], [1], [0]], dtype=float)
SAMPLES = len(INPUTS)
LAYERS = (2, 4, 1)


class Forward(dr.Program):
    layer = dr.vertex_param(np.int64)
    bias = dr.vertex_param(np.float64)
    given = dr.vertex_param(np.float64, size=SAMPLES)
    activation = dr.field(np.float64, size=SAMPLES)
    combine = dr.SUM

    def init(self, v):
        return v.given

    def start(self, v):
        return v.layer == 0

    def compute(self, u, edge, v):
        return u.activation * edge.weight

    def update(self, v, message):
        return 1 / (1 + dr.exp(-(message + v.bias)))

    def active(self, old, new):
        return new.layer == self.superstep + 1


class Backward(dr.Program):
    """Runs on the transpose: from the last layer's error to everybody's share of it, and to better weights.

    An edge learns after it has carried the error, so the error flows along the weights that the activations took.
    """

    layer = dr.vertex_param(np.int64)
    activation = dr.vertex_param(np.float64, size=SAMPLES)
    target = dr.vertex_param(np.float64, size=SAMPLES)
    last = dr.param(int)
    rate = dr.param(float)
    delta = dr.field(np.float64, size=SAMPLES)
    strength = dr.edge_field(np.float64)
    combine = dr.SUM

    def slope(self, v):
        return v.activation * (1 - v.activation)

    def init(self, v):
        return dr.where(v.layer == self.last, (v.activation - v.target) * self.slope(v), 0.0)

    def edge_init(self, u, edge, v):
        return edge.weight

    def start(self, v):
        return v.layer == self.last

    def compute(self, u, edge, v):
        return u.delta * edge.strength

    def update(self, v, message):
        return message * self.slope(v)

    def edge_update(self, u, edge, v):
        return edge.strength - self.rate * (u.delta * v.activation).sum()

    def active(self, old, new):
        return new.layer == self.last - self.superstep - 1


class Network:
    """The graph of a perceptron, its biases, and what the programs need to know of its layers."""

    def __init__(self, seed: int = 3) -> None:
        rng = np.random.default_rng(seed)
        first = np.concatenate([[0], np.cumsum(LAYERS)])
        self.layer = np.repeat(np.arange(len(LAYERS)), LAYERS)
        ends = [
            (u, v)
            for i in range(len(LAYERS) - 1)
            for u in range(first[i], first[i + 1])
            for v in range(first[i + 1], first[i + 2])
        ]
        src, dst = np.array(ends).T
        self.graph = dr.Graph.from_edges(src, dst, rng.normal(size=len(src)), num_vertices=first[-1])
        self.bias = np.zeros(first[-1])
        self.given = self._placed(0, INPUTS)
        self.target = self._placed(len(LAYERS) - 1, TARGETS)

    def _placed(self, layer: int, samples: np.ndarray) -> np.ndarray:
        rows = np.zeros((sum(LAYERS), SAMPLES))
        rows[self.layer == layer] = samples.T
        return rows

    def activations(self, **how) -> np.ndarray:
        return dr.run(Forward(layer=self.layer, bias=self.bias, given=self.given), self.graph, **how).activation

    def train(self, rate: float, **how) -> float:
        """One step of gradient descent; the squared error before it."""
        activation = self.activations(**how)
        last, back = len(LAYERS) - 1, self.graph.transpose
        backward = Backward(layer=self.layer, activation=activation, target=self.target, last=last, rate=rate)
        learnt = dr.run(backward, back, **how)
        self.graph = back.with_weights(learnt.strength).transpose
        self.bias = self.bias - rate * learnt.delta.sum(axis=1)
        return float(((activation - self.target)[self.layer == last] ** 2).sum() / 2)


if __name__ == "__main__":
    network = Network()
    for step in range(1501):
        error = network.train(rate=3.0)
        if step % 250 == 0:
            print(f"step {step:5}: error {error:.4f}")
    answers = network.activations()[-1]
    print("exclusive-or:", {tuple(map(int, x)): round(float(y), 2) for x, y in zip(INPUTS, answers, strict=True)})
    assert np.array_equal(answers > 0.5, TARGETS[:, 0] > 0.5)
