"""From a rollout to its advantages in one call: following values, bootstraps, GAE."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from rlk.records import Array
from rlk_networks import Policy
from rlk_on_policy.bootstrap import following_values
from rlk_on_policy.explained_variance import explained_variance
from rlk_on_policy.gae import gae, next_values
from rlk_on_policy.stored import stored
from rlk_rollout.rollout import Rollout

if TYPE_CHECKING:
    from rlk.running.run import Run


def logged_advantages(run: Run, rollout: Rollout, gamma: float, lam: float) -> Array:
    """`advantages` by the run's policy, with the explained variance of its values logged.

    A row of metrics has the mean over its rollouts, without those whose returns are all the same.
    """
    advantage = advantages(rollout, run.policy, gamma, lam, run.device)
    value = stored(rollout, "value")
    explained = explained_variance(value, advantage + value)
    if math.isfinite(explained):
        run.metrics.add("train/explained_variance", explained)
    return advantage


def advantages(
    rollout: Rollout, policy: Policy, gamma: float, lam: float, device: Any = "cpu"
) -> Array:
    """Generalised advantages of T steps in N environments, float32 [T, N].

    The return of a step is its advantage plus its stored value.
    A truncated episode bootstraps from the value of its final observation, a terminated one from 0
    (see `gae.py`). A recurrent policy values each observation with the state of its own episode.

    Args:
        rollout: with the extra `value`, and `state` and `episode_start` of a recurrent policy.
        policy: with a head `vf`.
        gamma, lam: 0 to 1.

    Raises:
        RlkError: if the algorithm does not store `value`.
    """
    value = stored(rollout, "value")
    last_value, final_value = following_values(policy, rollout, device)
    next_value = next_values(
        value,
        last_value,
        rollout.terminated,
        rollout.truncated,
        rollout.final_time,
        rollout.final_env,
        final_value,
    )
    ended = rollout.terminated | rollout.truncated
    return gae(rollout.reward, value, next_value, ended, gamma, lam)
