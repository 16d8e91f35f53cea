"""How many minibatches `batch_size` makes of a collection, and which it cannot make."""

from __future__ import annotations

import math

from rlk.errors import PlanError
from rlk_ppo.config import PPOConfig


def minibatches_per_epoch(config: PPOConfig, n_envs: int, title: str) -> int:
    """As few as there can be without one that has more than `batch_size` transitions.

    Args:
        title: of the algorithm, for the message.

    Raises:
        PlanError: if a collection has fewer transitions than that, or if a minibatch would have a
            single one whose advantage is to be normalised.
    """
    transitions = config.n_steps * n_envs
    if config.batch_size > transitions:
        raise PlanError(
            f"{title}: a collection of n_steps={config.n_steps} of {n_envs} environments has "
            f"{transitions} transitions, and batch_size={config.batch_size} asks for more. Say "
            f"--set batch_size={transitions} or less, or a larger n_steps."
        )
    count = math.ceil(transitions / config.batch_size)
    if config.normalize_advantage and transitions // count < 2:
        raise PlanError(
            f"{title}: with batch_size={config.batch_size} and {transitions} transitions in a "
            "collection a minibatch has a single advantage, which normalised is always 0. Say "
            "--set batch_size=2 or more, or --set normalize_advantage=false."
        )
    return count
