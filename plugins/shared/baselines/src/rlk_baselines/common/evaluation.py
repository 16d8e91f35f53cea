"""`evaluate_policy`: the mean return of a model."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from rlk.errors import RlkError
from rlk_baselines.common.vec_env import VecEnv
from rlk_baselines.environments.five_values import ShownEnv
from rlk_baselines.refusals import refused
from rlk_expert_data.arguments import checked_count


def evaluate_policy(
    model: Any,
    env: Any,
    n_eval_episodes: int = 10,
    deterministic: bool = True,
    render: bool = False,
    callback: Callable[[dict[str, Any], dict[str, Any]], Any] | None = None,
    reward_threshold: float | None = None,
    return_episode_rewards: bool = False,
) -> Any:
    """Play episodes, and return the mean and the standard deviation of their returns.

    Args:
        model: an object with `predict`.
        env: an environment with the interface of gym or Gymnasium, or a vector of one.
        n_eval_episodes: the number of episodes.
        deterministic: whether the model takes the mode of its policy.
        render: whether to render every step.
        callback: called after every step with the local and global variables.
        reward_threshold: a mean return that must be exceeded.
        return_episode_rewards: whether to return two lists instead: the returns and the lengths, in
            steps, of all episodes.

    Raises:
        Refused: if `n_eval_episodes` is not a whole number of at least 1.
        AssertionError: if there are several environments, or the threshold is not exceeded.
        RlkError: if `env` is None.
    """
    with refused():
        n_eval_episodes = checked_count("evaluate_policy: n_eval_episodes", n_eval_episodes)
    if env is None:
        raise RlkError("evaluate_policy needs an environment, got None.")
    n_envs = getattr(env, "num_envs", 1)  # of a vector of Gymnasium, too
    assert n_envs == 1, f"evaluate_policy takes one environment, got {n_envs}"
    reset, step = _moves(env)
    episode_rewards: list[float] = []
    episode_lengths: list[int] = []
    for i in range(n_eval_episodes):
        if i == 0 or not isinstance(env, VecEnv):  # vectors reset themselves
            obs = reset()
        done, state = False, None
        episode_reward, episode_length = 0.0, 0
        while not done:
            action, state = model.predict(obs, state=state, deterministic=deterministic)
            obs, reward, done, _info = step(action)
            episode_reward += float(np.asarray(reward).reshape(-1)[0])
            if callback is not None:
                callback(locals(), globals())
            episode_length += 1
            if render and isinstance(env, VecEnv):
                env.render("human")
            elif render:
                env.render()
        episode_rewards.append(episode_reward)
        episode_lengths.append(episode_length)
    mean_reward, std_reward = float(np.mean(episode_rewards)), float(np.std(episode_rewards))
    if reward_threshold is not None:
        assert mean_reward > reward_threshold, (
            f"Mean reward below threshold: {mean_reward:.2f} < {reward_threshold:.2f}"
        )
    if return_episode_rewards:
        return episode_rewards, episode_lengths
    return mean_reward, std_reward


def _moves(env: Any) -> tuple[Callable[[], Any], Callable[[Any], Any]]:
    """Functions that reset and step an environment of either interface, with gym's results."""
    if isinstance(env, VecEnv):
        return env.reset, env.step
    inner = ShownEnv(env)

    def step(action: Any) -> tuple[Any, Any, bool, Any]:
        observation, reward, terminated, truncated, info = inner.step(action)
        return observation, reward, terminated or truncated, info

    return lambda: inner.reset()[0], step
