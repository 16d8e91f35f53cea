"""Records whole episodes of an expert, as the arrays of a file. N environments, M transitions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from gymnasium import spaces

from rlk.errors import PlanError
from rlk.records import Array
from rlk.spaces import describe
from rlk_expert_data.arguments import checked_count
from rlk_expert_data.player import Player

#: (observations [N, …], whether an episode has just begun [N]) -> actions [N, …]
Act = Callable[[Any, Array], Any]
#: (observation, action, reward) of one step
Recorded = tuple[Any, Any, float]


def record(player: Player, act: Act, n_episodes: int) -> dict[str, Array]:
    """Record `n_episodes` whole episodes, one after the other.

    With several environments, each plays a fixed share of them (the first `n_episodes % N` play one
    more), so that short episodes are not recorded more often than long ones.

    Returns:
        `obs` [M, …] ([M, 1] for a Discrete space), `actions` likewise, `rewards` [M],
        `episode_starts` bool [M], `episode_returns` [n_episodes].

    Raises:
        PlanError: for other spaces than Box and Discrete, or fewer than one episode.
    """
    for name in ("observation_space", "action_space"):
        space = getattr(player, name)
        if not isinstance(space, (spaces.Box, spaces.Discrete)):
            raise PlanError(f"{name} is {describe(space)}: only Box and Discrete are recorded.")
    n_episodes = checked_count("n_episodes", n_episodes)
    n_envs = player.n_envs
    share = n_episodes // n_envs + (np.arange(n_envs) < n_episodes % n_envs)
    playing: list[list[Recorded]] = [[] for _ in range(n_envs)]
    ended: list[list[Recorded]] = []
    observation, begun = player.reset(), np.ones(n_envs, np.bool_)
    while share.any():
        actions = np.asarray(act(observation, begun))
        seen = np.array(observation)  # a vector environment may reuse this memory
        observation, rewards, over = player.step(actions)
        begun = np.asarray(over, np.bool_)
        for i in np.flatnonzero(share):
            playing[i].append((seen[i], np.array(actions[i]), float(rewards[i])))
            if begun[i]:
                ended.append(playing[i])
                playing[i] = []
                share[i] -= 1
    return _arrays(ended)


def _arrays(episodes: list[list[Recorded]]) -> dict[str, Array]:
    steps = [step for episode in episodes for step in episode]
    return {
        "actions": _rows([action for _, action, _ in steps]),
        "obs": _rows([seen for seen, _, _ in steps]),
        "rewards": np.array([reward for _, _, reward in steps]),
        "episode_returns": np.array([sum(step[2] for step in one) for one in episodes]),
        "episode_starts": np.array([i == 0 for one in episodes for i in range(len(one))]),
    }


def _rows(values: list[Any]) -> Array:
    """One row per step, [M, 1] for single numbers."""
    found = np.array(values)
    return found[:, None] if found.ndim == 1 else found
