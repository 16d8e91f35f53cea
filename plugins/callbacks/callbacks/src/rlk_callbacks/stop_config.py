"""Settings of the callbacks that stop training, and of the one that calls a function."""

from __future__ import annotations

from typing import Any

import attrs
from attrs import validators as v

from rlk.settings import finite


@attrs.frozen(kw_only=True)
class StopOnRewardConfig:
    """The mean return at which training stops."""

    reward_threshold: float = attrs.field(
        validator=finite,
        metadata={"help": "the mean return of an evaluation at which training stops"},
    )


@attrs.frozen(kw_only=True)
class StopOnNoImprovementConfig:
    """How many evaluations without improvement are allowed."""

    max_no_improvement_evals: int = attrs.field(
        default=3,
        validator=v.ge(0),
        metadata={
            "help": "how many evaluations in a row may bring no new best one, at least 0; one "
            "more stops training"
        },
    )
    min_evals: int = attrs.field(
        default=0,
        validator=v.ge(0),
        metadata={"help": "evaluations before the first that counts, at least 0"},
    )


@attrs.frozen(kw_only=True)
class MaxEpisodesConfig:
    """The number of episodes after which training ends."""

    max_episodes: int = attrs.field(
        validator=v.ge(1),
        metadata={"help": "episodes of all environments together, at least 1"},
    )


@attrs.frozen(kw_only=True)
class EveryNConfig:
    """The function to call, and how often."""

    n_steps: int = attrs.field(
        default=1000,
        validator=v.ge(1),
        metadata={"help": "timesteps between two calls, over all environments, at least 1"},
    )
    call: Any = attrs.field(
        default=None,
        validator=v.optional(v.is_callable()),
        metadata={
            "help": "a function of the run, passed in Python; training stops where it returns False"
        },
    )
