"""What a `VecNormalize` knows of observations: the moments of a Box, or of every key of a Dict."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from gymnasium import spaces

from rlk.errors import PlanError
from rlk.records import Array
from rlk.spaces import describe, is_image
from rlk_baselines.common.running_mean_std import RunningMeanStd

Statistics = RunningMeanStd | dict[str, RunningMeanStd]


def statistics_of(space: Any, keys: Iterable[str] | None) -> Statistics:
    """New ones: of a Box one, of a Dict one for each key; none for any other space.

    Args:
        space: of one environment's observations.
        keys: those of a Dict that are normalised; None is every one that is a Box.

    Raises:
        PlanError: for keys of what is no Dict, and for one that is not there or no Box.
    """
    if keys is not None and not isinstance(space, spaces.Dict):
        raise PlanError(
            f"VecNormalize: norm_obs_keys={list(keys)} names keys of a Dict, and observations are "
            f"{describe(space)}. Leave norm_obs_keys out."
        )
    if isinstance(space, spaces.Box):
        return RunningMeanStd(shape=space.shape)
    parts = space.spaces if isinstance(space, spaces.Dict) else {}
    boxes = {key: part.shape for key, part in parts.items() if isinstance(part, spaces.Box)}
    for key in keys or ():
        if key not in boxes:
            found = describe(parts[key]) if key in parts else "not there"
            raise PlanError(
                f"VecNormalize normalises a Box, and {key!r} of norm_obs_keys is {found}. Choose "
                f"from norm_obs_keys={list(boxes)}."
            )
    chosen = boxes if keys is None else keys
    return {key: RunningMeanStd(shape=boxes[key]) for key in chosen}


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
    """The space of a Dict's observations once they are normalised: images are no images then."""
    keys = statistics if isinstance(statistics, dict) else ()
    images = [key for key in keys if is_image(space[key])]
    if not images:
        return space
    made = {key: spaces.Box(-clip_obs, clip_obs, space[key].shape, np.float32) for key in images}
    return spaces.Dict({**space.spaces, **made})
