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
    "episode_final_obs": "final_observation",
    "episode_terminated": "terminated",
}
#: The keys that every file must have.
NEEDED = ("obs", "actions", "episode_returns", "episode_starts")
PER_TRANSITION = ("obs", "actions", "rewards", "episode_starts")
#: How episodes ended: files of Stable Baselines do not say; a file has both keys or none.
ENDS = ("episode_final_obs", "episode_terminated")
#: The keys with one number for each transition or episode, and its type.
_NUMBERS = {
    "episode_starts": np.bool_,
    "episode_returns": np.float64,
    "episode_terminated": np.bool_,
}


@dataclass(frozen=True)
class Trajectories:
    """An expert's observations, actions and returns.

    Attributes:
        observation: [M, …]; or the paths of images, str [M]; or of a Dict space, a structured
            array [M] whose fields are the parts.
        action: [M, …]; [M, 1] for a Discrete space.
        episode_start: bool [M], where an episode begins.
        returns: float [E].
        reward: float [M], or None if the file has none.
        final_observation: [E, …], in the form of `observation`, or None if it is not known.
        terminated: bool [E], whether an episode terminated (it was truncated otherwise), or None.
        whose: the name of the data in errors, such as the name of its file.
    """

    observation: Array
    action: Array
    episode_start: Array
    returns: Array
    reward: Array | None = None
    final_observation: Array | None = None
    terminated: Array | None = None
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
        for key, kind in _NUMBERS.items():
            if key in found:
                found[key] = found[key].reshape(-1).astype(kind)
        lengths = {key: len(found[key]) for key in PER_TRANSITION if key in found}
        if len(set(lengths.values())) > 1 or not lengths["obs"]:
            raise BadFile(f"{whose} is damaged: its arrays have the lengths {lengths}.")
        if not found["episode_starts"][0]:
            raise BadFile(f"{whose} is damaged: it does not begin with an episode's first step.")
        _check_episodes(found, whose)
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
        lengths = {key: end if key in PER_TRANSITION else episodes for key in KEYS}
        arrays = self.arrays().items()
        first: dict[str, Any] = {KEYS[key]: array[: lengths[key]] for key, array in arrays}
        return replace(self, **first)

    def following(self) -> tuple[Array, Array, Array]:
        """All transitions whose next observation is known, in their order, [K] each.

        If it is not known how episodes ended, the last transition of each is left out.

        Returns:
            their indices, int64; the rows of their next observations, int64, where those from M on
            are rows of `final_observation`; and whether they terminated, bool.
        """
        index, is_last = np.arange(len(self)), np.append(self.episode_start[1:], True)
        following, over = index + 1, np.zeros(len(self), np.bool_)
        if self.final_observation is None or self.terminated is None:
            return index[~is_last], following[~is_last], over[~is_last]
        following[is_last] = len(self) + np.arange(len(self.returns))
        over[is_last] = self.terminated
        return index, following, over

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


def _check_episodes(found: dict[str, Array], whose: str) -> None:
    """BadFile unless the arrays of episodes have their number, and final observations the form."""
    episodes, returns = int(found["episode_starts"].sum()), len(found["episode_returns"])
    if episodes != returns:
        counts = f"the number of episodes is {episodes}, and of returns {returns}"
        raise BadFile(f"{whose} is damaged: {counts}.")
    lengths = {key: len(found[key]) for key in ENDS if key in found}
    if not lengths:
        return
    if lengths != dict.fromkeys(ENDS, episodes):
        raise BadFile(
            f"{whose} is damaged: the number of episodes is {episodes}, and of their ends "
            f"{lengths}; it is to have {' and '.join(ENDS)}, or neither."
        )
    seen, final = (_form(found[key]) for key in ("obs", "episode_final_obs"))
    if seen != final:
        raise BadFile(f"{whose} is damaged: its obs are {seen}, and its episode_final_obs {final}.")


def _form(observations: Array) -> str:
    """What one of the observations is, in words."""
    if observations.dtype.kind in "US":
        return "paths"
    shape, names = observations.shape[1:], observations.dtype.names or ()
    parts = [f"{name} {shape + observations.dtype[name].shape}" for name in names]
    return ", ".join(parts) or f"numbers {shape}"


def _array(key: str, value: Any, whose: str) -> Array:
    """One of the arrays, checked.

    Raises:
        BadFile: if it holds no numbers; observations may also be paths, or numbers in parts.
    """
    try:
        found: Array = np.asarray(value)
    except ValueError as error:
        raise BadFile(f"{whose}: its {key} are not an array ({error}).") from None
    observed = key in ("obs", "episode_final_obs")
    parts = [found.dtype[name].base for name in found.dtype.names or () if observed]
    kinds = "biufUS" if observed and not parts else "biuf"
    if not found.ndim or any(part.kind not in kinds for part in parts or [found.dtype]):
        raise BadFile(f"{whose} is damaged: its {key} are {found.dtype} {found.shape}.")
    return found
