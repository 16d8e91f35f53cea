"""`A2C`: advantage actor-critic (Mnih et al. 2016, arXiv 1602.01783)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rlk_baselines.arguments import LAST, Argument, Rate
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
    arguments = (
        Argument("gamma", change="at once"),
        Argument("n_steps"),
        Argument("vf_coef", change="at once"),
        Argument("ent_coef", change="at once"),
        Argument("max_grad_norm"),
        Argument("learning_rate", change=Rate(("policy",))),
        Argument("alpha"),
        Argument("momentum"),
        Argument("epsilon"),
        Argument("lr_schedule"),
        *LAST,
    )
