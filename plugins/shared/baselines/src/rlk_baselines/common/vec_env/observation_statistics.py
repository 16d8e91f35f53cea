"""What a `VecNormalize` knows of observations: the moments of a Box, or of every key of a Dict."""

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
    """New ones: of a Box one, of a Dict one for each key; none for any other space.

    Args:
        space: of one environment's observations.
        keys: those of a Dict that are normalised; None is every one that is a Box.

    Raises:
        PlanError: for keys of what is no Dict, and for one that is not there or no Box.
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
    """An observation in which the function has been applied to what has statistics."""
    if isinstance(statistics, RunningMeanStd):
        return function(observation, statistics)
    made = {key: function(observation[key], rms) for key, rms in statistics.items()}
    return {**observation, **made}


def shapes(statistics: Statistics) -> Any:
    """The shapes of what they are of: one, or one for each key."""
    if isinstance(statistics, RunningMeanStd):
        return statistics.mean.shape
    return {key: rms.mean.shape for key, rms in statistics.items()}


def fit(space: Any, statistics: Statistics) -> bool:
    """Whether they are of such observations."""
    if isinstance(statistics, RunningMeanStd):
        return bool(space.shape == statistics.mean.shape)
    parts = space.spaces if isinstance(space, spaces.Dict) else {}
    shape_of = {key: part.shape for key, part in parts.items()}
    return all(shape_of.get(key) == shape for key, shape in shapes(statistics).items())


def normalised_space(space: Any, statistics: Statistics, clip_obs: float) -> Any:
    """The space of observations once they are normalised: of whole numbers, images too, floats."""
    if isinstance(statistics, RunningMeanStd):
        return _of_floats(space, clip_obs)
    if not statistics:
        return space
    made = {key: _of_floats(space[key], clip_obs) for key in statistics}
    return spaces.Dict({**space.spaces, **made})


def _of_floats(part: Any, clip_obs: float) -> Any:
    """A Box of floats as it is; of others, what their normalised numbers are in."""
    if np.issubdtype(part.dtype, np.floating):
        return part
    return spaces.Box(-clip_obs, clip_obs, part.shape, np.float32)
