"""Values of what follows a rollout: of the observation after its last step, and of what ended."""

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
    """(V of the observation after the last step [N], V of what episodes ended on [F]), float32.

    Those are `last_value` and `final_value` of `rlk_on_policy.gae.next_values`. A recurrent
    policy sees each with the state after the step before it: that of an episode which has ended is
    forgotten only afterwards.
    """
    none = np.empty(0, np.float32)
    if not is_recurrent(policy):
        last = _values(policy, rollout.next_observation, device)
        some = len(rollout.final_time) > 0
        return last, _values(policy, rollout.final_observation, device) if some else none
    state, start = rollout.extras["state"], rollout.extras["episode_start"]
    newest = spaces.map_observation(lambda part: part[-1], rollout.observation)
    _, reached = stepped(policy, newest, state[-1], start[-1], device)
    after = reached.cpu().numpy()
    last = _values_with(policy, rollout.next_observation, after, device)
    if not len(rollout.final_time):
        return last, none
    states = np.concatenate((state[1:], after[None]))[rollout.final_time, rollout.final_env]
    return last, _values_with(policy, rollout.final_observation, states, device)


def _values(policy: Policy, observation: Any, device: Any) -> Array:
    (value,) = policy(as_tensor(observation, device), "vf")
    array: Array = value[:, 0].cpu().numpy()
    return array


def _values_with(policy: Policy, observation: Any, state: Array, device: Any) -> Array:
    features, _ = stepped(policy, observation, state, np.zeros(len(state), np.bool_), device)
    value = policy.get_submodule("vf")(features)
    array: Array = value[:, 0].cpu().numpy()
    return array
