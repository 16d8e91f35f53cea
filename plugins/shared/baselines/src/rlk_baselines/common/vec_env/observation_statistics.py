"""The statistics of `VecNormalize`: running moments of a Box, or of every key of a Dict."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from gymnasium import spaces

from rlk.records import Array
from rlk_baselines.common.running_mean_std import RunningMeanStd
from rlk_wrappers.chosen_keys import parts_named

Statistics = RunningMeanStd | dict[str, RunningMeanStd]


def statistics_of(space: Any, keys: Iterable[str] | None) -> Statistics:
    """New statistics: one for a Box, a dict of them for a Dict, and an empty dict otherwise.

    Args:
        space: the observation space of one environment.
        keys: the keys of a Dict that are normalised; None means all that are a Box.

    Raises:
        PlanError: if there are keys but the space is not a Dict, or a key is missing or not a Box.
    """
    if keys is None and isinstance(space, spaces.Box):
        return RunningMeanStd(shape=space.shape)
    if keys is None:
        parts = space.spaces if isinstance(space, spaces.Dict) else {}
        chosen = [key for key, part in parts.items() if _is_box(part)]
    else:
        chosen = list(parts_named(space, keys, _is_box, "a Box", "VecNormalize"))
    return {key: RunningMeanStd(shape=space[key].shape) for key in chosen}


def _is_box(part: Any) -> bool:
    return isinstance(part, spaces.Box)


def of_each(
    function: Callable[[Array, RunningMeanStd], Any], observation: Any, statistics: Statistics
) -> Any:
    """Apply a function to an observation, or to those keys of a dict that have statistics."""
    if isinstance(statistics, RunningMeanStd):
        return function(observation, statistics)
    made = {key: function(observation[key], rms) for key, rms in statistics.items()}
    return {**observation, **made}


def shapes(statistics: Statistics) -> Any:
    """The shape of the observations, or a dict of shapes by key."""
    if isinstance(statistics, RunningMeanStd):
        return statistics.mean.shape
    return {key: rms.mean.shape for key, rms in statistics.items()}


def fit(space: Any, statistics: Statistics) -> bool:
    """Whether the statistics have the shapes of a space's observations."""
    if isinstance(statistics, RunningMeanStd):
        return bool(space.shape == statistics.mean.shape)
    parts = space.spaces if isinstance(space, spaces.Dict) else {}
    shape_of = {key: part.shape for key, part in parts.items()}
    return all(shape_of.get(key) == shape for key, shape in shapes(statistics).items())


def normalised_space(space: Any, statistics: Statistics, clip_obs: float) -> Any:
    """The space of normalised observations: integers, such as images, become floats."""
    if isinstance(statistics, RunningMeanStd):
        return _of_floats(space, clip_obs)
    if not statistics:
        return space
    made = {key: _of_floats(space[key], clip_obs) for key in statistics}
    return spaces.Dict({**space.spaces, **made})


def _of_floats(part: Any, clip_obs: float) -> Any:
    """The space of a Box once it is normalised.

    A Box of floats stays; for other dtypes, it is a float32 Box from -clip_obs to clip_obs.
    """
    if np.issubdtype(part.dtype, np.floating):
        return part
    return spaces.Box(-clip_obs, clip_obs, part.shape, np.float32)
