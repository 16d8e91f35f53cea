"""From a rollout to its advantages: following values, GAE, and how well the values predicted."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from rlk import spaces
from rlk.records import Array
from rlk_networks import Policy, as_tensor
from rlk_networks.recurrent import is_recurrent
from rlk_on_policy.gae import gae, next_values
from rlk_on_policy.minibatches import stored
from rlk_on_policy.recurrent import stepped
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


@torch.no_grad()
def following_values(policy: Policy, rollout: Rollout, device: Any = "cpu") -> tuple[Array, Array]:
    """(V of the observation after the last step [N], V of final observations [F]), float32.

    They are `last_value` and `final_value` of `rlk_on_policy.gae.next_values`. A recurrent policy
    sees each with the state after the step before it: the state of an ended episode is reset only
    afterwards. Where an episode terminated, the value is 0 and the policy is not evaluated.

    `extras["state"]` has every step, [T, N, S]: a field with `first_only=True` does not.
    """
    time, env = rollout.final_time, rollout.final_env
    asked = ~rollout.terminated[time, env]
    final_value = np.zeros(len(time), np.float32)
    if not is_recurrent(policy):
        if asked.any():
            final_value[asked] = _values(policy, _final(rollout, asked), device)
        return _values(policy, rollout.next_observation, device), final_value
    state, start = rollout.extras["state"], rollout.extras["episode_start"]
    newest = spaces.map_observation(lambda part: part[-1], rollout.observation)
    _, reached = stepped(policy, newest, state[-1], start[-1], device)
    after = reached.cpu().numpy()
    if asked.any():
        states = np.concatenate((state[1:], after[None]))[time[asked], env[asked]]
        final_value[asked] = _values_with(policy, _final(rollout, asked), states, device)
    return _values_with(policy, rollout.next_observation, after, device), final_value


def explained_variance(predicted: Array, actual: Array) -> float:
    """1 - Var[actual - predicted] / Var[actual]: 1 is perfect, 0 as good as a constant.

    NaN if the actual returns are all the same.
    """
    total = np.var(actual, dtype=np.float64)
    if total == 0.0:
        return float("nan")
    return 1.0 - float(np.var(actual - predicted, dtype=np.float64) / total)


def _final(rollout: Rollout, asked: Array) -> Any:
    """The final observations of these episodes, bool [F]."""
    return spaces.map_observation(lambda part: part[asked], rollout.final_observation)


def _values(policy: Policy, observation: Any, device: Any) -> Array:
    (value,) = policy(as_tensor(observation, device), "vf")
    return value[:, 0].cpu().numpy()


def _values_with(policy: Policy, observation: Any, state: Array, device: Any) -> Array:
    features, _ = stepped(policy, observation, state, np.zeros(len(state), np.bool_), device)
    value = policy.get_submodule("vf")(features)
    return value[:, 0].cpu().numpy()
