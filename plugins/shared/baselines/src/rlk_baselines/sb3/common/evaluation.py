"""`evaluate_policy`: the mean return of a model, in any number of environments."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from rlk_baselines.environments.as_vec_env import as_vec_env
from rlk_baselines.refusals import refuse_below_one


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

    Each of N environments plays a fixed share of the episodes, so that short episodes are not
    overrepresented.

    Args:
        model: an object with `predict`.
        env: an environment, or a vector. If it is in a `Monitor`, the monitor's returns are used.
        n_eval_episodes: the number of episodes.
        deterministic: whether the model takes the mode of its policy.
        render: whether to render every step.
        callback: called after every step with the local and global variables, once for each
            environment `i` with episodes left; the locals have its `reward`, `done` and `info`.
        reward_threshold: a mean return that must be exceeded.
        return_episode_rewards: whether to return two lists instead: the returns and the lengths, in
            steps, of all episodes.
        warn: ignored.

    Raises:
        Refused: if `n_eval_episodes` is less than 1.
        AssertionError: if the threshold is not exceeded.
    """
    refuse_below_one(n_eval_episodes, "evaluate_policy: n_eval_episodes")
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
            # The loss of a life in an Atari game ends no episode, although `done` is true.
            if done and not info.get("goes_on"):
                told = info.get("episode")
                monitored = told if isinstance(told, Mapping) else {}
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
