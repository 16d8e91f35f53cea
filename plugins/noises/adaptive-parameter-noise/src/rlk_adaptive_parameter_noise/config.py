"""Settings of parameter noise, with the names of Stable Baselines' AdaptiveParamNoiseSpec."""

from __future__ import annotations

from typing import Any

import attrs

from rlk.errors import PlanError
from rlk.settings import UNIT, above, at_least, at_most, below, documented, finite, setting


@documented
@attrs.frozen(kw_only=True)
class AdaptiveParameterNoiseConfig:
    """The initial strength of the noise, and the distance that it should lead to."""

    initial_stddev: float = attrs.field(
        default=0.1,
        **setting(
            "standard deviation of the noise on the parameters at the start, at most 1e6",
            [above(0.0), at_most(1e6)],
        ),
    )
    desired_action_stddev: float = attrs.field(
        default=0.1,
        **setting(
            "continuous actions: the target distance, between 0 and 2, for actions from -1 to 1",
            [above(0.0), below(2.0)],
        ),
    )
    adoption_coefficient: float = attrs.field(
        default=1.01,
        **setting(
            "factor by which the standard deviation changes each time, above 1",
            [above(1.0), finite],
        ),
    )
    adaption_interval: int = attrs.field(
        default=50,
        **setting(
            "updates (continuous actions) or vector steps (discrete ones) between such changes",
            at_least(1),
        ),
    )
    batch_size: int | None = attrs.field(
        default=None,
        **setting(
            "continuous actions: how many observations of the replay the distance is "
            "measured on; none takes the algorithm's batch_size",
            at_least(1, or_none=True),
        ),
    )
    fraction: float = attrs.field(
        default=0.1,
        **setting("discrete actions: fraction of the run over which epsilon falls, 0 to 1", UNIT),
    )
    initial_eps: float = attrs.field(
        default=1.0,
        **setting(
            "discrete actions: the target distance is that of epsilon-greedy with "
            "this epsilon at the start, 0 to 1",
            UNIT,
        ),
    )
    final_eps: float = attrs.field(
        default=0.02,
        **setting("discrete actions: that epsilon after its fall, 0 to 1", UNIT),
    )
    convolutions: bool = attrs.field(default=True, **setting("whether convolutions are perturbed"))


#: Settings that apply to only one kind of actions, each with its counterpart for the other.
_CONTINUOUS = ("desired_action_stddev", "batch_size")
_DISCRETE = ("fraction", "initial_eps", "final_eps")


def check(config: AdaptiveParameterNoiseConfig, plan: Any) -> None:
    """Refuse settings that have no effect on these actions, and an empty batch.

    Those of a saved plan may be there without an effect: a file has every setting.

    Raises:
        PlanError: for the first one that was changed.
    """
    is_discrete = type(plan.action_space).__name__ == "Discrete"
    theirs = getattr(plan.algorithm.config, "batch_size", None)
    if not is_discrete and config.batch_size is None and theirs is None:
        raise PlanError(
            f"noise 'adaptive-parameter-noise': {plan.algorithm.title} has no batch_size. Use "
            "--set adaptive-parameter-noise.batch_size=128."
        )
    unused, instead = (_CONTINUOUS, _DISCRETE) if is_discrete else (_DISCRETE, _CONTINUOUS)
    (noise,) = (one for one in plan.noises if one.config is config)
    for name in noise.changed(*unused):
        actions = "discrete" if is_discrete else "continuous"
        raise PlanError(
            f"{noise.title}: {name}={getattr(config, name)!r} has no effect on {actions} actions, "
            f"whose distance is measured otherwise. Set one of: {', '.join(instead)}."
        )
