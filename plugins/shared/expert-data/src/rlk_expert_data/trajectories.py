"""Whole episodes of an expert, one after the other, in the form of Stable Baselines 2.10's files.

Shapes: M transitions, E episodes, D action dimensions.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from rlk.errors import BadFile
from rlk.records import Array
from rlk_expert_data.arguments import checked_count
from rlk_expert_data.fitting import actions_in, observations_in

#: The keys of a file, each with its field of `Trajectories`.
KEYS: Mapping[str, str] = {
    "obs": "observation",
    "actions": "action",
    "rewards": "reward",
    "episode_returns": "returns",
    "episode_starts": "episode_start",
}
#: The keys that every file must have.
NEEDED = tuple(key for key in KEYS if key != "rewards")
PER_TRANSITION = ("obs", "actions", "rewards", "episode_starts")


@dataclass(frozen=True)
class Trajectories:
    """An expert's observations, actions and returns.

    Attributes:
        observation: [M, …], or the paths of images, str [M].
        action: [M, …]; [M, 1] for a Discrete space.
        episode_start: bool [M], where an episode begins.
        returns: float [E].
        reward: float [M], or None if the file has none.
        whose: the name of the data in errors, such as the name of its file.
    """

    observation: Array
    action: Array
    episode_start: Array
    returns: Array
    reward: Array | None = None
    whose: str = "the expert's data"

    def __len__(self) -> int:
        return len(self.action)

    @classmethod
    def of(cls, data: Mapping[str, Any], whose: str = "the expert's data") -> Trajectories:
        """The trajectories of a dict that `generate_expert_traj` returned, or of a file.

        Raises:
            BadFile: if a key is missing, array sizes do not match, or the arrays are empty.
        """
        missing = [key for key in NEEDED if key not in data]
        if missing:
            raise BadFile(
                f"{whose} has no {', '.join(missing)}: expert data has the keys {', '.join(KEYS)}, "
                "as generate_expert_traj gives them."
            )
        found = {key: _array(key, data[key], whose) for key in KEYS if key in data}
        lengths = {key: len(found[key]) for key in PER_TRANSITION if key in found}
        if len(set(lengths.values())) > 1 or not lengths["obs"]:
            raise BadFile(f"{whose} is damaged: its arrays have the lengths {lengths}.")
        starts = found["episode_starts"] = found["episode_starts"].reshape(-1).astype(np.bool_)
        found["episode_returns"] = found["episode_returns"].reshape(-1).astype(np.float64)
        if not starts[0]:
            raise BadFile(f"{whose} is damaged: it does not begin with an episode's first step.")
        episodes, returns = int(starts.sum()), len(found["episode_returns"])
        if episodes != returns:
            counts = f"the number of episodes is {episodes}, and of returns {returns}"
            raise BadFile(f"{whose} is damaged: {counts}.")
        return cls(whose=whose, **{KEYS[key]: array for key, array in found.items()})

    def arrays(self) -> dict[str, Array]:
        """The arrays by the keys of a file."""
        found = {key: getattr(self, field) for key, field in KEYS.items()}
        return {key: array for key, array in found.items() if array is not None}

    def limited(self, episodes: int) -> Trajectories:
        """Only this many episodes, from the first on; -1 means all.

        Raises:
            PlanError: for anything but -1 or a whole number of at least 1.
        """
        if episodes == -1:
            return self
        episodes = checked_count("traj_limitation, unless it is -1 for all,", episodes)
        starts = np.flatnonzero(self.episode_start)
        end = int(starts[episodes]) if episodes < len(starts) else len(self)
        reward = None if self.reward is None else self.reward[:end]
        return replace(
            self,
            observation=self.observation[:end],
            action=self.action[:end],
            episode_start=self.episode_start[:end],
            returns=self.returns[:episodes],
            reward=reward,
        )

    def following(self) -> tuple[Array, Array]:
        """(t, t + 1) of all transitions whose next observation is known, int64 [K] each.

        Files do not hold the last observation of an episode, so its last transition is left out.
        """
        index = np.flatnonzero(~self.episode_start[1:])
        return index, index + 1

    def fitted(self, observation_space: Any, action_space: Any) -> Trajectories:
        """The same data in the shapes and dtypes of these spaces; actions as storages keep them.

        For a Discrete space these are whole numbers from 0 on, int64 [M], otherwise [M, D].

        Raises:
            PlanError: if the expert's spaces differ.
        """
        return replace(
            self,
            observation=observations_in(observation_space, self.observation, self.whose),
            action=actions_in(action_space, self.action, self.whose),
        )


def _array(key: str, value: Any, whose: str) -> Array:
    """One of the arrays, checked.

    Raises:
        BadFile: if it holds no numbers; for `obs`, if it holds neither numbers nor paths.
    """
    try:
        found: Array = np.asarray(value)
    except ValueError as error:
        raise BadFile(f"{whose}: its {key} are not an array ({error}).") from None
    if not found.ndim or found.dtype.kind not in ("biufUS" if key == "obs" else "biuf"):
        raise BadFile(f"{whose} is damaged: its {key} are {found.dtype} {found.shape}.")
    return found
