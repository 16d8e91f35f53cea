"""Settings of epsilon-greedy exploration."""

from __future__ import annotations

import attrs
from attrs import validators as v

from rlk.settings import setting


def _part(default: float, help_text: str) -> float:
    field: float = attrs.field(default=default, **setting(help_text, [v.ge(0.0), v.le(1.0)]))
    return field


@attrs.frozen(kw_only=True)
class EpsilonGreedyConfig:
    """The probability of a random action, and how it decreases."""

    fraction: float = _part(0.1, "fraction of the run over which epsilon falls, 0 to 1")
    initial_eps: float = _part(1.0, "epsilon at the start, 0 to 1")
    final_eps: float = _part(0.02, "epsilon after that, 0 to 1")
