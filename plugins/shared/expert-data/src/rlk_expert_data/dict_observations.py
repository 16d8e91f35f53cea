"""Dict observations as one structured array, whose fields are the parts. N observations."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from rlk.records import Array
from rlk.spaces import map_observation


def has_parts(observations: Array) -> bool:
    """Whether these are the observations of a Dict space."""
    return observations.dtype.names is not None


def as_batch(observation: Any) -> Any:
    """One observation, an array or a dict of arrays, as a batch of one, [1, …]."""
    return map_observation(lambda part: np.asarray(part)[None], observation)


def joined(observations: Any) -> Array:
    """A copy of observations [N, …]; a dict of such becomes a structured array [N].

    Its fields are in the order of their names: an environment and a vector of it may order the
    same keys differently.
    """
    if not isinstance(observations, Mapping):
        return np.array(observations)
    parts = {key: np.asarray(part) for key, part in sorted(observations.items())}
    fields = [(key, part.dtype, part.shape[1:]) for key, part in parts.items()]
    found = np.empty(len(next(iter(parts.values()))), np.dtype(fields))
    for key, part in parts.items():
        found[key] = part
    return found


def one_by_one(observations: Any) -> list[Any]:
    """Each of the observations [N, …]; of a dict of such, a dict each."""
    if not isinstance(observations, Mapping):
        return list(observations)
    columns = [list(part) for part in observations.values()]
    return [dict(zip(observations, row, strict=True)) for row in zip(*columns, strict=True)]
