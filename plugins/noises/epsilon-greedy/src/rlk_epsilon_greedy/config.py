"""Settings of epsilon-greedy exploration."""

from __future__ import annotations

import attrs

from rlk.settings import UNIT, at_least, documented, setting


@documented
@attrs.frozen(kw_only=True)
class EpsilonGreedyConfig:
    """The probability of a random action, and how it decreases."""

    fraction: float = attrs.field(
        default=0.1, **setting("fraction of the run over which epsilon falls, 0 to 1", UNIT)
    )
    initial_eps: float = attrs.field(default=1.0, **setting("epsilon at the start, 0 to 1", UNIT))
    final_eps: float = attrs.field(default=0.02, **setting("epsilon after that, 0 to 1", UNIT))
    warm_up: int = attrs.field(
        default=0,
        **setting(
            "timesteps before which every action is random, whatever epsilon is", at_least(0)
        ),
    )
