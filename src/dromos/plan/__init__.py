"""The planner: which path the next superstep takes, from statistics alone."""

from dromos.plan.path import PATHS, Path, require_legal
from dromos.plan.policy import candidates, choose
from dromos.plan.stats import Caps, Constants, Decision, History, Levels, Row, Stats

__all__ = [
    "PATHS",
    "Caps",
    "Constants",
    "Decision",
    "History",
    "Levels",
    "Path",
    "Row",
    "Stats",
    "candidates",
    "choose",
    "require_legal",
]
