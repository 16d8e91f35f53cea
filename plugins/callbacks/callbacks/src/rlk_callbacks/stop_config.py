"""Settings of the callbacks that stop training, and of the one that calls a function."""

from __future__ import annotations

from typing import Any

import attrs
from attrs import validators as v

from rlk.settings import at_least, documented, finite, setting


def _which() -> int:
    return attrs.field(
        default=1,
        **setting(
            "which evaluation counts where a run has several, from 1 for the first", at_least(1)
        ),
    )


@documented
@attrs.frozen(kw_only=True)
class StopOnRewardConfig:
    """The mean return at which training stops."""

    reward_threshold: float = attrs.field(
        **setting("the mean return of an evaluation at which training stops", finite)
    )
    evaluation: int = _which()


@documented
@attrs.frozen(kw_only=True)
class StopOnNoImprovementConfig:
    """How many evaluations without improvement are allowed."""

    max_no_improvement_evals: int = attrs.field(
        default=3,
        **setting(
            "how many evaluations in a row may bring no new best one, at least 0; one "
            "more stops training",
            at_least(0),
        ),
    )
    min_evals: int = attrs.field(
        default=0, **setting("evaluations before the first that counts, at least 0", at_least(0))
    )
    evaluation: int = _which()


@documented
@attrs.frozen(kw_only=True)
class MaxEpisodesConfig:
    """The number of episodes after which training ends."""

    max_episodes: int = attrs.field(
        **setting("episodes of all environments together, at least 1", at_least(1))
    )


@documented
@attrs.frozen(kw_only=True)
class EveryNConfig:
    """The function to call, and how often."""

    n_steps: int = attrs.field(
        default=1000,
        **setting(
            "the interval of calls in timesteps over all environments, at least 1", at_least(1)
        ),
    )
    call: Any = attrs.field(
        default=None,
        **setting(
            "a function of the run, passed in Python; training stops where it returns False",
            v.optional(v.is_callable()),
        ),
    )
