"""Sequences of several environments as tensors, laid out so that one pass evaluates every state.

Shapes: T steps, N environments, B = T * N, A actions, L >= T + 2 observations of an environment,
S numbers of state. Everything is flattened time first.

A step leads to the next observation, except where its episode was truncated: there it leads to the
final observation, whose value is needed too. So that is put between the episode's last step and
the first of the next episode, and every step leads to the next row of the same environment:

    observed:  a0 a1 | b0 b1 b2      a was truncated; its final observation is a2
    L rows:    a0 a1 a2 b0 b1 b2
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from torch import Tensor

from rlk.records import Array
from rlk_networks import Policy, as_tensor
from rlk_on_policy.recurrent import unrolled
from rlk_rollout.rollout import Rollout


@dataclass(frozen=True, kw_only=True)
class Trajectories:
    """The sequences that an update learns from.

    Attributes:
        observation: [L * N, ...], raw.
        row: int64 [B], the row of each step's observation; N rows later is the one it led to.
        action: int64 [B]. parameters: float [B, A], logits of the policy that acted.
        reward, discount: float [T, N]; the discount is gamma * (1 - terminated).
        ended: bool [T, N], where an episode ended, by either flag.
    """

    observation: Any
    row: Tensor
    action: Tensor
    parameters: Tensor
    reward: Tensor
    discount: Tensor
    ended: Tensor

    def outputs(self, policy: Policy, *names: str) -> tuple[Any, ...]:
        """What the named heads give for all observations, each [L * N, ...]."""
        return policy(self.observation, *names)

    def at_steps(self, values: Tensor) -> Tensor:
        """Of values for all observations, [L * N, ...], those of the steps' own, [B, ...]."""
        return values.index_select(0, self.row)

    def after_steps(self, values: Tensor) -> Tensor:
        """Likewise those of the observations that the steps led to, [B, ...]."""
        return values.index_select(0, self.row + self.reward.shape[1])


@dataclass(frozen=True, kw_only=True)
class RecurrentTrajectories(Trajectories):
    """Sequences for a recurrent policy, with the states to unroll from.

    Attributes:
        state: float [N, S], before the first step, as stored when the sequence was collected.
        episode_start: bool [L, N], where the state is reset.
    """

    state: Tensor
    episode_start: Tensor

    def outputs(self, policy: Policy, *names: str) -> tuple[Any, ...]:
        """What the named heads give for all observations, unrolled from the stored state."""
        return unrolled(policy, self.observation, self.state, self.episode_start, *names)


def trajectories(rollout: Rollout, gamma: float, device: Any = "cpu") -> Trajectories:
    """Sequences with the extra `parameters` (and `state`, `episode_start`) as tensors."""

    def tensor(array: Array) -> Tensor:
        return as_tensor(array, device)

    def flat(array: Array) -> Tensor:
        return tensor(array.reshape(-1, *array.shape[2:]))

    extras, rows = rollout.extras, Rows(rollout)
    fields: dict[str, Any] = {
        "observation": as_tensor(rows.observation(), device),
        "row": flat(rows.place[:-1] * rows.n_envs + rows.envs),
        "action": flat(rollout.action),
        "parameters": flat(extras["parameters"]),
        "reward": tensor(rollout.reward),
        "discount": tensor(np.float32(gamma) * ~rollout.terminated),
        "ended": tensor(rollout.terminated | rollout.truncated),
    }
    if "state" not in extras:
        return Trajectories(**fields)
    return RecurrentTrajectories(
        **fields,
        state=tensor(extras["state"][0]),
        episode_start=tensor(rows.episode_start()),
    )


class Rows:
    """The places in L rows of the T + 1 observations of N environments and of final observations.

    There is always room for one truncated episode, so batches have one size unless several episodes
    of an environment were truncated in one sequence.

    Attributes:
        place: int [T + 1, N], of each step's observation, and of the one after the last step.
    """

    def __init__(self, rollout: Rollout) -> None:
        self._rollout = rollout
        steps, self.n_envs = rollout.reward.shape
        self.envs = np.arange(self.n_envs)
        cut = rollout.truncated & ~rollout.terminated
        self.place = np.arange(steps + 1)[:, None].repeat(self.n_envs, 1)
        self.place[1:] += cut.cumsum(0)
        self.length = max(steps + 2, int(self.place[-1].max()) + 1)
        self._valued = cut[rollout.final_time, rollout.final_env]  # [F]: the others have no value
        env = rollout.final_env[self._valued]
        self._final = self.place[rollout.final_time[self._valued], env] + 1, env

    def observation(self) -> Any:
        """All observations, [L * N, ...]."""
        rollout = self._rollout
        seen = rollout.observation, rollout.next_observation, rollout.final_observation
        if isinstance(rollout.observation, Mapping):
            return {key: self._spread(*[part[key] for part in seen]) for key in seen[0]}
        return self._spread(*seen)

    def _spread(self, observation: Array, following: Array, final: Array) -> Array:
        """[L * N, ...]; unused rows at the end repeat the observation after the last step."""
        rows = np.repeat(following[None], self.length, 0)
        rows[self.place[:-1], self.envs] = observation
        rows[self._final] = final[self._valued]
        return rows.reshape(-1, *rows.shape[2:])

    def episode_start(self) -> Array:
        """Where a recurrent policy's state is reset, bool [L, N]."""
        rollout = self._rollout
        starts = np.zeros((self.length, self.n_envs), np.bool_)
        starts[self.place[:-1], self.envs] = rollout.extras["episode_start"]
        starts[self.place[-1], self.envs] = rollout.terminated[-1] | rollout.truncated[-1]
        return starts
