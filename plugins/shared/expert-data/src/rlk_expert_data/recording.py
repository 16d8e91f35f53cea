"""Records whole episodes of an expert, as the arrays of a file. N environments, M transitions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from gymnasium import spaces

from rlk.errors import PlanError
from rlk.records import Array
from rlk.spaces import describe
from rlk_expert_data.player import Player

#: (observations [N, …], whether an episode has just begun [N]) -> actions [N, …]
Act = Callable[[Any, Array], Any]


def record(player: Player, act: Act, n_episodes: int) -> dict[str, Array]:
    """So many whole episodes, one after the other, however many environments played them.

    Returns:
        `obs` [M, …], `actions` [M, …] ([M, 1] of a Discrete space), `rewards` [M],
        `episode_starts` bool [M], `episode_returns` [n_episodes].

    Raises:
        PlanError: for other spaces than Box and Discrete, or no episode.
    """
    for name in ("observation_space", "action_space"):
        space = getattr(player, name)
        if not isinstance(space, (spaces.Box, spaces.Discrete)):
            raise PlanError(f"{name} is {describe(space)}: only Box and Discrete are recorded.")
    if n_episodes < 1:
        raise PlanError(f"n_episodes must be at least 1, got {n_episodes}.")
    playing: list[list[tuple[Any, Any, float]]] = [[] for _ in range(player.n_envs)]
    ended: list[list[tuple[Any, Any, float]]] = []
    observation = player.reset()
    begun = np.ones(player.n_envs, np.bool_)
    while len(ended) < n_episodes:
        actions = np.asarray(act(observation, begun))
        seen = np.array(observation)  # a vector may write the next ones into the same memory
        observation, rewards, over = player.step(actions)
        begun = np.asarray(over, np.bool_)
        for i, steps in enumerate(playing):
            steps.append((seen[i], np.array(actions[i]), float(rewards[i])))
            if begun[i] and len(ended) < n_episodes:
                ended.append(steps)
                playing[i] = []
    return _arrays(ended)


def _arrays(episodes: list[list[tuple[Any, Any, float]]]) -> dict[str, Array]:
    steps = [step for episode in episodes for step in episode]
    actions = np.array([action for _, action, _ in steps])
    return {
        "actions": actions.reshape(len(steps), -1) if actions.ndim == 1 else actions,
        "obs": np.array([seen for seen, _, _ in steps]),
        "rewards": np.array([reward for _, _, reward in steps]),
        "episode_returns": np.array([sum(step[2] for step in one) for one in episodes]),
        "episode_starts": np.array([i == 0 for one in episodes for i in range(len(one))]),
    }
