"""`evaluate_policy`: the mean return of a model, in any number of environments."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from rlk.program_warnings import warn_program
from rlk_baselines.environments.as_vec_env import as_vec_env
from rlk_baselines.refusals import refused
from rlk_expert_data.arguments import checked_count
from rlk_old_gym.interface import takes
from rlk_sb3.common.vec_env import VecMonitor, is_vecenv_wrapped
from rlk_sb3.common.vec_env.vec_monitor import has_monitors

_UNMONITORED = (
    "the evaluation's environment is not in a Monitor: if wrappers change rewards or the ends of "
    "episodes, these are counted. Write Monitor(env) around the environment itself."
)


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
        env: an environment, or a vector. If it is in a `Monitor`, the monitor's returns are used,
            and the episodes are those that the monitor records.
        n_eval_episodes: the number of episodes.
        deterministic: whether the model takes the mode of its policy.
        render: whether to render every step.
        callback: called after every step with the local and global variables, once for each
            environment `i` with episodes left; the locals have its `reward`, `done` and `info`, and
            of all environments `observations`, `actions`, `new_observations` and `episode_counts`.
        reward_threshold: a mean return that must be exceeded.
        return_episode_rewards: whether to return two lists instead: the returns and the lengths, in
            steps, of all episodes.
        warn: whether to warn if there is no monitor: wrappers may change rewards and lengths.

    Raises:
        Refused: if `n_eval_episodes` is not a whole number of at least 1.
        AssertionError: if the threshold is not exceeded.
    """
    with refused():
        n_eval_episodes = checked_count("evaluate_policy: n_eval_episodes", n_eval_episodes)
    vector = as_vec_env(env)
    is_monitored = is_vecenv_wrapped(vector, VecMonitor) or has_monitors(vector)
    if warn and not is_monitored:
        warn_program(_UNMONITORED)
    n_envs = vector.num_envs
    episode_counts = np.zeros(n_envs, int)
    episode_count_targets = np.array([(n_eval_episodes + i) // n_envs for i in range(n_envs)])
    episode_rewards: list[float] = []
    episode_lengths: list[int] = []
    current_rewards, current_lengths = np.zeros(n_envs), np.zeros(n_envs, int)
    observations, states = vector.reset(), None
    episode_starts = np.ones(n_envs, bool)
    while (left := episode_counts < episode_count_targets).any():
        actions, states = _predicted(model, observations, states, episode_starts, deterministic)
        new_observations, rewards, dones, infos = vector.step(actions)
        current_rewards += rewards
        current_lengths += 1
        episode_starts = dones
        for i in np.flatnonzero(left).tolist():
            reward, done, info = rewards[i], dones[i], infos[i]
            if callback is not None:
                callback(locals(), globals())
            # The loss of a life in an Atari game ends no episode, although `done` is true.
            is_whole = "episode" in info if is_monitored else not info.get("goes_on")
            if done and is_whole:
                told = info.get("episode")
                monitored = told if isinstance(told, Mapping) else {}
                episode_rewards.append(float(monitored.get("r", current_rewards[i])))
                episode_lengths.append(int(monitored.get("l", current_lengths[i])))
                current_rewards[i], current_lengths[i] = 0.0, 0
                episode_counts[i] += 1
        observations = new_observations
        if render:
            vector.render("human")
    mean, std = float(np.mean(episode_rewards)), float(np.std(episode_rewards))
    if reward_threshold is not None:
        assert mean > reward_threshold, f"Mean reward below threshold: {mean:.2f}"
    return (episode_rewards, episode_lengths) if return_episode_rewards else (mean, std)


def _predicted(model: Any, observations: Any, states: Any, starts: Any, deterministic: bool) -> Any:
    """Call `predict` by the keywords of Stable-Baselines3; one of Stable Baselines by position."""
    if not takes(model.predict, "episode_start"):
        return model.predict(observations, states, starts, deterministic)
    keywords = {"state": states, "episode_start": starts, "deterministic": deterministic}
    return model.predict(observations, **keywords)
