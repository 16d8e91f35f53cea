"""The content of a model's file, and of the values that its JSON holds as pickles.

Both Stable Baselines 2.10 and Stable-Baselines3 write files of settings (JSON) and parameters.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import attrs
import numpy as np
from gymnasium import spaces

from rlk.records import Array
from rlk_baselines.foreign_files.inert_pickle import Inert, inert_load

_PICKLE = ":serialized:"


@attrs.frozen
class SavedThere:
    """The content of a file of Stable Baselines, or of Stable-Baselines3."""

    path: Path
    settings: Mapping[str, Any]  #: the constructor arguments that could be read
    left_out: tuple[str, ...]  #: the names of those that could not
    policy: str | None  #: the documented name of its policy; None for a custom class
    policy_kwargs: Mapping[str, Any]
    observation_space: Any  #: None if it could not be read
    action_space: Any  #: likewise
    n_envs: int
    parameters: Mapping[str, Array]  #: by the names in the file; TensorFlow's without ":0"
    other_optimiser: str | None = None  #: the optimiser, if the model here cannot have it


def value_of(value: Any) -> Any:
    """A value of the JSON; a pickle is loaded as inert objects, or becomes an `Inert`."""
    if not (isinstance(value, dict) and _PICKLE in value):
        return value
    try:
        return inert_load(base64.b64decode(value[_PICKLE]))
    except ValueError:
        return Inert()


def space_of(value: Any) -> Any:
    """The Gymnasium space for an inert space of gym or Gymnasium; None for an unknown one."""
    kind, own = type(value).__name__, getattr(value, "__dict__", {})
    if kind == "Box":
        low, high = (np.asarray(own[bound]) for bound in ("low", "high"))
        return spaces.Box(low, high, dtype=own["dtype"].type)
    if kind == "Discrete":
        return spaces.Discrete(int(own["n"]), start=int(own.get("start", 0)))
    if kind == "MultiDiscrete":
        return spaces.MultiDiscrete(np.asarray(own["nvec"]))
    if kind == "MultiBinary":
        return spaces.MultiBinary(own["n"])
    if kind == "Dict":
        return spaces.Dict({key: space_of(part) for key, part in own["spaces"].items()})
    return None
