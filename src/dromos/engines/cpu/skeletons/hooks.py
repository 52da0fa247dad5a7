"""An example of the hooks that a program supplies, so that the skeletons are complete modules for editors and linters.

:func:`dromos.codegen.python.hooks_text` writes such hooks for a program; the tests check that the names are the same.
S, O, D are tuples of fields (now, before, to be written); A the accumulators; E the edge fields; K the context:
superstep, sizes, degrees, parameters, reductions.
"""

# mypy: ignore-errors
from __future__ import annotations

VOTE = HAS_SENT = HAS_EDGE_FIELDS = HAS_REDUCTIONS = UPDATE_ALL = ALWAYS_ACTIVE = OFFERS_EARLY = WANTS_DECLARED = False
OFFERED = LOWERS = False
SENDS_ALWAYS = WANTS_ALWAYS = REVISITS = True


PRIORITY = 0  # the slot of the field that orders the vertices


def bucket(value, scale):
    """The bin of a value of the ordering field."""


def compute_from(value, S, E, K, u, v, arc, weight):
    """The message along an arc whose source has ``value`` in the ordering field."""


def init_store(D, S, K, v):
    """Give ``v`` its initial state."""


def start_at(S, K, v):
    """Whether ``v`` is in the first frontier."""


def wants_at(S, K, v):
    """Whether ``v`` can still use a message."""


def sends_at(S, E, K, u, v, arc, weight):
    """Whether a message goes along an arc."""


def compute_at(S, E, K, u, v, arc, weight):
    """The message along an arc."""


def sent_store(D, S, K, v):
    """Store the state of ``v`` after it has sent; return whether every integer fitted."""


def update_store(D, S, K, v, message):
    """Store the new state of ``v``; return whether every integer fitted."""


def active_at(O, S, K, v):
    """Whether ``v`` is in the next frontier."""


def edge_init_store(D, S, E, K, u, v, arc, weight):
    """Give an arc its initial state."""


def edge_update_store(D, S, E, K, u, v, arc, weight):
    """Store the new state of an arc."""


def weight_at(weights, arc):
    """The weight of an arc; 1 in an unweighted graph."""


def weight_one():
    """A weight of the graph's type, for messages that do not read it."""


def identity():
    """The message that changes nothing."""


def merge(a, b):
    """Merge two messages."""


def load_message(A, v):
    """The merged message of ``v``."""


def prefetch_message(A, v):
    """Ask for the merged message of ``v``, which will be loaded soon."""


def store_message(A, v, message):
    """Set the merged message of ``v``."""


def merge_shared(A, locks, v, message):
    """Merge a message into that of ``v`` while other threads may do so too."""


def save_old(D, S, v):
    """Copy the written fields of ``v``."""


def old_values(S, v):
    """The written fields of ``v``, as values."""


def active_from(H, S, K, v):
    """Whether ``v``, which held the values ``H`` before, is in the next frontier."""


def changes(S, K, v, message):
    """Whether a message would change the state of ``v``, which other threads may be writing."""


def wants_settled(S, K, v):
    """As ``wants_at``, while no thread writes ``v``."""


def prefetch_claim(S, v):
    """Prefetch what :func:`claim_store` writes, for exclusive access."""


def claim_store(S, K, v, message, contested):
    """Give ``v`` its one message unless it has one; return whether it did. ``contested``: other threads may try too."""


def reduce_start():
    """The identities of the reductions."""


def reduce_fold(R, O, S, K, v):
    """The reductions with ``v`` folded in."""


def reduce_fold_from(R, H, S, K, v):
    """The reductions with ``v``, which held the values ``H`` before, folded in."""


def reduce_fold_stored(R, sums, place):
    """The reductions with those of a block, stored by :func:`reduce_store`, folded in."""


def with_reductions(K, R):
    """The context with these reductions."""


def in_superstep(K, number):
    """The context of another superstep."""


def converged_at(K):
    """Whether the program says that it has converged."""


def reduce_store(R, sums, place):
    """Store the reductions of a block of vertices."""
