"""`A2C`: advantage actor-critic (Mnih et al. 2016, arXiv 1602.01783)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rlk_baselines.argument_types import Folder, Keywords, Schedulable
from rlk_baselines.arguments import LAST, Argument, Rate, at_once, constructor
from rlk_baselines.common.math_util import discount_with_boundaries
from rlk_baselines.models import ActorCriticRLModel


def discount_with_dones(rewards: Any, dones: Sequence[Any], gamma: float) -> list[float]:
    """Discounted sums as by `discount_with_boundaries`, given the ends of episodes.

    Args:
        rewards: float [T].
        dones: bool [T], whether a step is the last of an episode.
        gamma: the discount factor.
    """
    return discount_with_boundaries(rewards, [False, *dones[:-1]], gamma).tolist()


class A2C(ActorCriticRLModel):
    """Advantage actor-critic (Mnih et al. 2016, arXiv 1602.01783).

    Its parameters are those of the plugin `a2c`; the README of rlk-a2c describes them.
    """

    algo = "a2c"

    @constructor(
        *at_once("gamma", "vf_coef", "ent_coef"),
        Argument("learning_rate", change=Rate(("policy",))),
        *LAST,
    )
    def __init__(
        self,
        policy: str | type[Any],
        env: Any,
        gamma: float = 0.99,
        n_steps: int = 5,
        vf_coef: float = 0.25,
        ent_coef: float = 0.01,
        max_grad_norm: float | None = 0.5,
        learning_rate: Schedulable = 0.0007,
        alpha: float = 0.99,
        momentum: float = 0.0,
        epsilon: float = 1e-5,
        lr_schedule: str = "constant",
        verbose: int = 0,
        tensorboard_log: Folder | None = None,
        _init_setup_model: bool = True,
        policy_kwargs: Keywords | None = None,
        full_tensorboard_log: bool = False,
        seed: int | None = None,
        n_cpu_tf_sess: int | None = None,
    ) -> None: ...
