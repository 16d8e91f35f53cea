"""`evaluate_policy`: the mean return of a model, in a vector of any number of environments."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from rlk_baselines.environments.as_vec_env import as_vec_env


def evaluate_policy(
    model: Any,
    env: Any,
    n_eval_episodes: int = 10,
    deterministic: bool = True,
    render: bool = False,
    callback: Callable[[dict[str, Any], dict[str, Any]], Any] | None = None,
    reward_threshold: float | None = None,
    return_episode_rewards: bool = False,
    warn: bool = True,
) -> Any:
    """Play episodes, and return the mean and the standard deviation of their returns.

    Each of N environments plays its part of the episodes, so that short ones do not count more.

    Args:
        model: with `predict`.
        env: an environment, or a vector of them. In a `Monitor`, its returns count.
        n_eval_episodes: how many episodes.
        deterministic: whether it acts by the mode of its policy.
        render: whether to render every step.
        callback: called after every step with local and global variables, for each environment
            that still plays: number `i`, with its `reward`, `done` and `info`.
        reward_threshold: a mean return that must be exceeded.
        return_episode_rewards: return the returns and the lengths of all episodes instead.
        warn: nothing.

    Raises:
        AssertionError: if the threshold is not met.
    """
    vector = as_vec_env(env)
    n_envs = vector.num_envs
    left = np.array([(n_eval_episodes + i) // n_envs for i in range(n_envs)])
    episode_rewards: list[float] = []
    episode_lengths: list[int] = []
    current_rewards, current_lengths = np.zeros(n_envs), np.zeros(n_envs, int)
    observations, states = vector.reset(), None
    starts = np.ones(n_envs, bool)
    while left.any():
        actions, states = model.predict(observations, states, starts, deterministic)
        observations, rewards, dones, infos = vector.step(actions)
        current_rewards += rewards
        current_lengths += 1
        starts = dones
        for i in np.flatnonzero(left).tolist():
            reward, done, info = rewards[i], dones[i], infos[i]
            if callback is not None:
                callback(locals(), globals())
            # A life of an Atari game is no episode: its monitor says where one ends.
            if done and not info.get("goes_on"):
                monitored = info.get("episode", {})
                episode_rewards.append(float(monitored.get("r", current_rewards[i])))
                episode_lengths.append(int(monitored.get("l", current_lengths[i])))
                current_rewards[i], current_lengths[i] = 0.0, 0
                left[i] -= 1
        if render:
            vector.render()
    mean, std = float(np.mean(episode_rewards)), float(np.std(episode_rewards))
    if reward_threshold is not None:
        assert mean > reward_threshold, f"Mean reward below threshold: {mean:.2f}"
    return (episode_rewards, episode_lengths) if return_episode_rewards else (mean, std)
