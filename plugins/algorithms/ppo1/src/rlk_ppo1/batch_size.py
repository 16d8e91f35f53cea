"""How many minibatches `optim_batchsize` makes of a collection. Imports no torch."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from rlk.errors import PlanError
from rlk_ppo1.config import PPO1Config

if TYPE_CHECKING:
    from rlk.planning.plan import Plan


def check(config: PPO1Config, plan: Plan) -> None:
    """PlanError for an `optim_batchsize` that no collection of this plan gives."""
    minibatches_per_epoch(config, plan.n_envs)


def minibatches_per_epoch(config: PPO1Config, n_envs: int) -> int:
    """How many there are, so that none is larger than `optim_batchsize`.

    Raises:
        PlanError: if a collection is smaller than one minibatch.
    """
    steps, batch_size = config.timesteps_per_actorbatch, config.optim_batchsize
    transitions = steps * n_envs
    if batch_size > transitions:
        raise PlanError(
            f"algorithm 'ppo1' (rlk-ppo1): a collection of timesteps_per_actorbatch={steps} with "
            f"n_envs={n_envs} has {transitions} transitions, fewer than a minibatch of "
            f"optim_batchsize={batch_size}. Say --set optim_batchsize={transitions} or less, or "
            f"--set timesteps_per_actorbatch={math.ceil(batch_size / n_envs)} or more."
        )
    return math.ceil(transitions / batch_size)
