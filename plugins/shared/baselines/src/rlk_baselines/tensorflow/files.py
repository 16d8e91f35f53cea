"""Reads the files of Stable Baselines 2.10: a zip of settings (JSON), parameters and their names.

Values that JSON cannot hold are stored as pickles; with `cloudpickle=True`, the whole file is one.
No code in them runs: only spaces, numbers and class names are read.
"""

from __future__ import annotations

import base64
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import attrs
import numpy as np
from gymnasium import spaces

from rlk.records import Array
from rlk_baselines.tensorflow.checked_content import (
    checked_arrays,
    checked_keywords,
    checked_n_envs,
    entries_of,
    refusing_damage,
    settings_in,
    weights_in,
)
from rlk_baselines.tensorflow.inert_pickle import Inert, inert_load, is_plain, path_of
from rlk_mlp.config import ACTIVATION_NAMES

#: The entries of such a zip.
ENTRIES = {"data", "parameters", "parameter_list"}
#: The prefix of the modules of its policy classes.
_POLICIES = "stable_baselines."
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


def is_from_there(path: Path) -> bool:
    """Whether Stable Baselines wrote a file."""
    if zipfile.is_zipfile(path):
        return entries_of(path) >= ENTRIES
    try:
        found = inert_load(path.read_bytes())
    except ValueError:
        return False
    return isinstance(found, tuple) and len(found) == 2 and isinstance(found[0], dict)


def read(path: Path) -> SavedThere:
    """Read a saved model.

    Raises:
        BadFile: if the file is damaged.
    """
    with refusing_damage(path):
        found, arrays = _zipped(path) if zipfile.is_zipfile(path) else _pickled(path)
        return _model_in(path, found, checked_arrays(arrays))


def _model_in(path: Path, found: dict[str, Any], arrays: Mapping[str, Array]) -> SavedThere:
    """The model with these settings, which are taken out, and parameters."""
    parameters = {name.removesuffix(":0"): array for name, array in arrays.items()}
    kwargs = checked_keywords(found.pop("policy_kwargs", None))
    policy = path_of(found.pop("policy")) or ""
    observation_space = space_of(found.pop("observation_space", None))
    action_space = space_of(found.pop("action_space", None))
    n_envs = checked_n_envs(found.pop("n_envs", None))
    settings = {name: plain(value) for name, value in found.items() if is_plain(value)}
    return SavedThere(
        path,
        settings,
        tuple(sorted(found.keys() - settings.keys())),
        policy.rpartition(".")[2] if policy.startswith(_POLICIES) else None,
        {name: _keyword(value) for name, value in kwargs.items()},
        observation_space,
        action_space,
        n_envs,
        parameters,
    )


def _zipped(path: Path) -> tuple[dict[str, Any], dict[Any, Any]]:
    """The settings and the parameters in a zip."""
    with zipfile.ZipFile(path) as archive:
        data = settings_in(archive)
        arrays = np.load(weights_in(archive, "parameters"), allow_pickle=False)
        parameters = {name: arrays[name] for name in arrays.files}
    return {name: value_of(value) for name, value in data.items()}, parameters


def _pickled(path: Path) -> tuple[dict[str, Any], dict[Any, Any]]:
    """The settings and the parameters in a pickle.

    Raises:
        ValueError: if the parameters have no names, as before Stable Baselines 2.5.
    """
    data, parameters = inert_load(path.read_bytes())
    if not isinstance(parameters, dict):
        raise ValueError("its parameters have no names: it is of a release before 2.5")
    return dict(data), parameters


def value_of(value: Any) -> Any:
    """A value of the JSON; a pickle is loaded as inert objects, or becomes an `Inert`."""
    if not (isinstance(value, dict) and _PICKLE in value):
        return value
    try:
        return inert_load(base64.b64decode(value[_PICKLE]))
    except ValueError:
        return Inert()


def plain(value: Any) -> Any:
    """Convert a numpy number to a Python number."""
    return value.item() if isinstance(value, np.generic) else value


def _keyword(value: Any) -> Any:
    """A value of `policy_kwargs`; an activation of TensorFlow becomes its name."""
    name = (path_of(value) or "").rpartition(".")[2]
    return name if name in ACTIVATION_NAMES else value


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
