"""Evaluation: whole episodes of a policy in environments of their own."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import attrs
import numpy as np

from rlk import spaces
from rlk.errors import NotFinite
from rlk.records import Array
from rlk.vector import same_step

#: (observation, state, episode_start, deterministic) -> (action, state), as `Agent.predict` is.
Predict = Callable[..., tuple[Array, Any]]


@attrs.frozen
class Evaluation:
    """The episodes of one evaluation, in the order they ended.

    Attributes:
        returns: undiscounted, as the environment gave the rewards. lengths: in steps.
        successes: of episodes whose last info has `is_success`.
        timesteps: of training, when it was made.
    """

    returns: list[float]
    lengths: list[int]
    successes: list[bool] = attrs.field(factory=list)
    timesteps: int = 0

    @property
    def mean_return(self) -> float:
        return float(np.mean(self.returns))

    @property
    def std_return(self) -> float:
        return float(np.std(self.returns))

    @property
    def mean_length(self) -> float:
        return float(np.mean(self.lengths))


def evaluate(
    predict: Predict,
    env: Any,
    episodes: int = 10,
    *,
    seeds: list[int] | None = None,
    deterministic: bool = True,
    on_step: Callable[[Any], None] | None = None,
    timesteps: int = 0,
) -> Evaluation:
    """Plays `episodes` whole episodes.

    Each environment plays a fixed share of them (the first `episodes % N` play one more), so that short
    episodes are not counted more often than long ones.

    Args:
        predict: as `Agent.predict`.
        env: a vector environment of N.
        seeds: of the environments' first reset; None leaves them as they are.
        deterministic: whether the policy's mode is taken.
        on_step: called after every step with the environment (rendering).
        timesteps: of training, kept in the result.

    Raises:
        NotFinite: if the environment returns NaN or infinity as a reward.
    """
    env = same_step(env)
    n_envs = env.num_envs
    share = np.full(n_envs, episodes // n_envs) + (np.arange(n_envs) < episodes % n_envs)
    returns, lengths = np.zeros(n_envs), np.zeros(n_envs, dtype=int)
    all_returns: list[float] = []
    all_lengths: list[int] = []
    successes: list[bool] = []
    observation, _ = env.reset(seed=seeds)
    state, start = None, np.ones(n_envs, dtype=bool)
    while share.any():
        action, state = predict(observation, state, start, deterministic)
        observation, reward, terminated, truncated, infos = env.step(action)
        if not spaces.finite(reward):
            raise NotFinite(f"the evaluation environment gave the reward {reward!r}.")
        returns += reward
        lengths += 1
        start = terminated | truncated
        if on_step is not None:
            on_step(env)
        if not start.any():
            continue
        last = infos.get("final_info", {})
        for index in np.flatnonzero(start):
            if share[index] > 0:
                share[index] -= 1
                figures = last.get("episode")
                all_returns.append(float(figures["r"][index] if figures else returns[index]))
                all_lengths.append(int(figures["l"][index] if figures else lengths[index]))
                if "is_success" in last:
                    successes.append(bool(last["is_success"][index]))
            returns[index], lengths[index] = 0.0, 0
    return Evaluation(all_returns, all_lengths, successes, timesteps)
