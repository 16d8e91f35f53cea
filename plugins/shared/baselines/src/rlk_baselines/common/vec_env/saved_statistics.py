"""Reads the pickles of `VecNormalize` and its statistics without running code from them.

They may come from this package, Stable Baselines 2.10 or Stable-Baselines3, which store the same
numbers. Spaces and any other content are ignored.
"""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from rlk.errors import BadFile
from rlk_baselines.common.running_mean_std import RunningMeanStd
from rlk_baselines.common.vec_env.observation_statistics import Statistics
from rlk_baselines.foreign_files.inert_pickle import RefusedPickle, inert_load

Path = str | os.PathLike[str]
_PACKAGES = ("rlk_baselines", "stable_baselines", "stable_baselines3")
_NORMALIZE = {f"{one}.common.vec_env.vec_normalize.VecNormalize" for one in _PACKAGES}
_STATISTICS = {f"{one}.common.running_mean_std.RunningMeanStd" for one in _PACKAGES}
_NUMBERS = ("clip_obs", "clip_reward", "gamma", "epsilon")
_FLAGS = ("training", "norm_obs", "norm_reward")


def saved_normalize(path: Path) -> dict[str, Any]:
    """The attributes of a saved `VecNormalize`: settings, `obs_rms` and `ret_rms`.

    `obs_rms` may be missing if observations were not normalised: Stable-Baselines3 does not store
    it then.

    Raises:
        RefusedPickle: if it is an object of another class.
        BadFile: if it is damaged.
    """
    held = _attributes(path, _loaded(path), _NORMALIZE)
    try:
        found: dict[str, Any] = {name: float(held[name]) for name in _NUMBERS}
        found |= {name: bool(held[name]) for name in _FLAGS}
    except (KeyError, TypeError, ValueError) as error:
        raise _damaged(path, error) from None
    if "obs_rms" in held:
        found["obs_rms"] = _of_observations(path, held["obs_rms"])
    if "ret_rms" in held:
        found["ret_rms"] = _statistics(path, held["ret_rms"])
    if "ret_rms" not in found or ("obs_rms" not in found and found["norm_obs"]):
        raise BadFile(f"{path} is damaged: its statistics are missing.")
    return found


def saved_statistics(path: Path) -> RunningMeanStd:
    """A `RunningMeanStd` that was saved by itself.

    Raises:
        RefusedPickle: if it is an object of another class.
        BadFile: if it is damaged.
    """
    return _statistics(path, _loaded(path))


def saved_of_observations(path: Path) -> Statistics:
    """Statistics of observations that were saved by themselves; raises as `saved_statistics`."""
    return _of_observations(path, _loaded(path))


def _loaded(path: Path) -> Any:
    with open(path, "rb") as file:
        data = file.read()
    try:
        return inert_load(data)
    except ValueError as error:
        raise BadFile(f"{path} is not a pickle: {error}.") from None


def _of_observations(path: Path, inert: Any) -> Statistics:
    if isinstance(inert, dict):
        return {str(key): _statistics(path, one) for key, one in inert.items()}
    return _statistics(path, inert)


def _statistics(path: Path, inert: Any) -> RunningMeanStd:
    held = _attributes(path, inert, _STATISTICS)
    found = RunningMeanStd()
    try:
        found.mean, found.var = (np.asarray(held[name], np.float64) for name in ("mean", "var"))
        found.count = float(held["count"])
    except (KeyError, TypeError, ValueError) as error:
        raise _damaged(path, error) from None
    return found


def _attributes(path: Path, inert: Any, classes: set[str]) -> dict[str, Any]:
    """The attributes of an unpickled inert object, if it is of one of these classes."""
    own = getattr(type(inert), "path", type(inert).__name__)
    if own not in classes:
        wanted = " or ".join(sorted({name.rpartition(".")[2] for name in classes}))
        raise RefusedPickle(f"{path} is a pickle of {own}, and not of a {wanted}: it is not read.")
    return dict(vars(inert))


def _damaged(path: Path, error: Exception) -> BadFile:
    return BadFile(f"{path} is damaged: {type(error).__name__}: {error}.")
