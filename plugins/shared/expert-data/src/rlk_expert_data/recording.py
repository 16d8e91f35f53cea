"""Records whole episodes of an expert, as the arrays of a file. N environments, M transitions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from gymnasium import spaces

from rlk.errors import PlanError
from rlk.records import Array
from rlk.spaces import describe, is_nested
from rlk_expert_data.arguments import checked_count
from rlk_expert_data.dict_observations import as_batch, has_parts, joined
from rlk_expert_data.player import Ending, Player

#: (observations [N, …], whether an episode has just begun [N]) -> actions [N, …]
Act = Callable[[Any, Array], Any]
#: (observation, action, reward) of one step
Recorded = tuple[Any, Any, float]
#: The steps of an episode, and how it ended, if that is known.
Episode = tuple[list[Recorded], Ending | None]


def record(player: Player, act: Act, n_episodes: int) -> dict[str, Array]:
    """Record `n_episodes` whole episodes, one after the other.

    With several environments, each plays a fixed share of them (the first `n_episodes % N` play one
    more), so that short episodes are not recorded more often than long ones.

    Returns:
        `obs` [M, …] ([M, 1] for a Discrete space, structured for a Dict), `actions` likewise,
        `rewards` [M], `episode_starts` bool [M], `episode_returns` [n_episodes], and if the ends
        of all episodes are known, `episode_final_obs` [n_episodes, …] and `episode_terminated`
        bool [n_episodes].

    Raises:
        PlanError: for other spaces than Box and Discrete, and for observations a Dict of arrays,
            or for fewer than one episode.
    """
    check_spaces(player)
    n_episodes = checked_count("n_episodes", n_episodes)
    n_envs = player.n_envs
    share = n_episodes // n_envs + (np.arange(n_envs) < n_episodes % n_envs)
    playing: list[list[Recorded]] = [[] for _ in range(n_envs)]
    ended: list[Episode] = []
    observation, begun = player.reset(), np.ones(n_envs, np.bool_)
    while share.any():
        actions = np.asarray(act(observation, begun))
        seen = joined(observation)  # copied: a vector environment may reuse this memory
        observation, rewards, endings = player.step(actions)
        begun = np.array([i in endings for i in range(n_envs)])
        for i in np.flatnonzero(share).tolist():
            playing[i].append((seen[i], np.array(actions[i]), float(rewards[i])))
            if begun[i]:
                ended.append((playing[i], _copied(endings[i])))
                playing[i] = []
                share[i] -= 1
    return _arrays(ended)


def check_spaces(player: Player) -> None:
    """Check that elements of the spaces are recorded.

    Raises:
        PlanError: for other spaces than Box and Discrete, and for observations a Dict of arrays.
    """
    for name in ("observation_space", "action_space"):
        space = getattr(player, name)
        if name == "observation_space" and isinstance(space, spaces.Dict) and not is_nested(space):
            continue
        if not isinstance(space, (spaces.Box, spaces.Discrete)):
            also = ", and observations in a Dict of arrays," if name == "observation_space" else ""
            raise PlanError(
                f"{name} is {describe(space)}: only Box and Discrete{also} are recorded."
            )


def _copied(ending: Ending | None) -> Ending | None:
    """The same with its observation copied, as one row of a file's array."""
    if ending is None:
        return None
    return ending._replace(observation=joined(as_batch(ending.observation))[0])


def _arrays(episodes: list[Episode]) -> dict[str, Array]:
    steps = [step for episode, _ in episodes for step in episode]
    endings = [ending for _, ending in episodes if ending is not None]
    found = {
        "actions": _rows([action for _, action, _ in steps]),
        "obs": _rows([seen for seen, _, _ in steps]),
        "rewards": np.array([reward for _, _, reward in steps]),
        "episode_returns": np.array([sum(step[2] for step in one) for one, _ in episodes]),
        "episode_starts": np.array([i == 0 for one, _ in episodes for i in range(len(one))]),
    }
    if len(endings) == len(episodes):
        found["episode_final_obs"] = _rows([ending.observation for ending in endings])
        found["episode_terminated"] = np.array([ending.terminated for ending in endings])
    return found


def _rows(values: list[Any]) -> Array:
    """One row per step, [M, 1] for single numbers."""
    found = np.array(values)
    return found[:, None] if found.ndim == 1 and not has_parts(found) else found
