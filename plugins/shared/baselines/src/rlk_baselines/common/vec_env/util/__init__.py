"""Functions for a program's own vectors: observations of structured spaces as dicts of arrays."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping
from typing import Any

import numpy as np
from gymnasium import spaces

from rlk.records import Array

__all__ = ["copy_obs_dict", "dict_to_obs", "obs_space_info"]


def copy_obs_dict(obs: Mapping[Any, Array]) -> OrderedDict[Any, Array]:
    """A copy of a dict of arrays and of its arrays."""
    return OrderedDict((key, np.copy(part)) for key, part in obs.items())


def dict_to_obs(space: Any, obs_dict: Mapping[Any, Array]) -> Any:
    """The observation of a space, from its parts by the keys that `obs_space_info` returns."""
    if isinstance(space, spaces.Dict):
        return obs_dict
    if isinstance(space, spaces.Tuple):
        return tuple(obs_dict[i] for i in range(len(space.spaces)))
    return obs_dict[None]


def obs_space_info(
    obs_space: Any,
) -> tuple[list[Any], dict[Any, tuple[int, ...]], dict[Any, np.dtype[Any]]]:
    """The keys of the parts of a space, and their shapes and dtypes by key.

    The keys of a Tuple are positions; any other space that is not a Dict has the only key None.
    """
    if isinstance(obs_space, spaces.Dict):
        parts: dict[Any, Any] = dict(obs_space.spaces)
    elif isinstance(obs_space, spaces.Tuple):
        parts = dict(enumerate(obs_space.spaces))
    else:
        parts = {None: obs_space}
    shapes = {key: part.shape for key, part in parts.items()}
    return list(parts), shapes, {key: part.dtype for key, part in parts.items()}
