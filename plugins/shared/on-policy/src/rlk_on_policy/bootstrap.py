"""Values after a rollout: of the observation after its last step, and of final observations."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from rlk import spaces
from rlk.records import Array
from rlk_networks import Policy, as_tensor
from rlk_on_policy.recurrent import is_recurrent, stepped
from rlk_rollout.rollout import Rollout


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


def _final(rollout: Rollout, asked: Array) -> Any:
    """The final observations of these episodes, bool [F]."""
    return spaces.map_observation(lambda part: part[asked], rollout.final_observation)


def _values(policy: Policy, observation: Any, device: Any) -> Array:
    (value,) = policy(as_tensor(observation, device), "vf")
    array: Array = value[:, 0].cpu().numpy()
    return array


def _values_with(policy: Policy, observation: Any, state: Array, device: Any) -> Array:
    features, _ = stepped(policy, observation, state, np.zeros(len(state), np.bool_), device)
    value = policy.get_submodule("vf")(features)
    array: Array = value[:, 0].cpu().numpy()
    return array
