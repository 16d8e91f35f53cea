"""Reads expert data from the place that a setting names: a file, or a Minari dataset."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from rlk.documents import read_npz
from rlk.errors import BadFile, PlanError
from rlk.files import looking_at, users_path
from rlk.records import Array
from rlk.spaces import flat_observation
from rlk_expert_data.dict_observations import joined
from rlk_expert_data.images import is_paths, located
from rlk_expert_data.trajectories import Trajectories

MINARI = "minari:"


class Absent(BadFile):
    """Expert data that is not on this machine; models trained from it can be loaded without it."""


def read(place: str | os.PathLike[str], traj_limitation: int = -1) -> Trajectories:
    """The trajectories in a file of `generate_expert_traj`, or in a dataset `minari:ID`.

    Args:
        place: the file (`.npz` may be left out), or `minari:` and the id of a local dataset.
        traj_limitation: use only this many trajectories, from the first on; -1 uses all.

    Raises:
        Absent: if there is no such file or dataset on this machine.
        BadFile: if it is damaged.
    """
    text = os.fspath(place)
    if text.startswith(MINARI):
        return of_minari(text.removeprefix(MINARI)).limited(traj_limitation)
    path = users_path(text)
    with looking_at(path, f"cannot read {place}", Absent):
        if not path.is_file() and path.suffix != ".npz":
            path = path.with_name(f"{path.name}.npz")
        is_there = path.is_file()
    if not is_there:
        raise Absent(
            f"{place} does not exist. Record an expert: generate_expert_traj(model, 'name') writes "
            "name.npz."
        )
    found = Trajectories.of(read_npz(path), str(path))
    return _located(found, path.parent).limited(traj_limitation)


def _located(found: Trajectories, beside: Path) -> Trajectories:
    """The same; relative paths of images are resolved so that this process can open them."""
    if not is_paths(found.observation):
        return found
    final = found.final_observation
    return replace(
        found,
        observation=located(found.observation, beside),
        final_observation=None if final is None else located(final, beside),
    )


def of_minari(dataset_id: str) -> Trajectories:
    """The episodes of a Minari dataset on this machine.

    Raises:
        Absent: if minari is not installed, or does not have the dataset.
        BadFile: if it is damaged.
    """
    place = f"{MINARI}{dataset_id}"
    try:
        import minari
    except ModuleNotFoundError:
        raise Absent(
            f'{place} needs minari. Install it: pip install "rlk-expert-data[minari]"'
        ) from None
    try:
        return of_episodes(minari.load_dataset(dataset_id).iterate_episodes(), place)
    except FileNotFoundError:
        raise Absent(
            f"{place} is not on this machine. Download it: minari download {dataset_id}"
        ) from None
    except (OSError, ValueError, KeyError) as error:
        raise BadFile(f"{place} cannot be read: {error}.") from None


def of_episodes(episodes: Any, whose: str) -> Trajectories:
    """The trajectories of episodes in Minari's form, which have one more observation than actions.

    An episode that is neither terminated nor truncated was truncated by the end of the recording.

    Raises:
        PlanError: if observations or actions are not arrays.
        BadFile: if there is no episode, or one has other lengths.
    """
    found = [_of_episode(episode, whose) for episode in episodes]
    if not found:
        raise BadFile(f"{whose} holds no episode.")
    return Trajectories.of(
        {key: np.concatenate([arrays[key] for arrays in found]) for key in found[0]}, whose
    )


def _of_episode(episode: Any, whose: str) -> dict[str, Array]:
    """The arrays of one episode, by the keys of a file."""
    length = len(episode.rewards)
    observations = flat_observation(episode.observations)
    parts = observations.values() if isinstance(observations, Mapping) else [observations]
    for name, values in (("observations", [*parts]), ("actions", [episode.actions])):
        if not values or not all(isinstance(each, np.ndarray) for each in values):
            raise PlanError(
                f"{whose}: its {name} are not arrays; only Box and Discrete fit, and observations "
                "in a Dict of these."
            )
    seen = joined(observations)
    if len(seen) != length + 1 or not length:
        raise BadFile(
            f"{whose} is damaged: an episode has {len(seen)} observations and {length} rewards."
        )
    return {
        "obs": seen[:-1],
        "actions": episode.actions.reshape(length, -1),
        "rewards": episode.rewards,
        "episode_starts": np.arange(length) == 0,
        "episode_returns": np.array([np.sum(episode.rewards)]),
        "episode_final_obs": seen[-1:],
        "episode_terminated": np.array([bool(episode.terminations[-1])]),
    }
