"""Reads the files of Stable Baselines 2.10: a zip of settings (JSON), parameters and their names.

What JSON cannot hold is in there as pickles, and with `cloudpickle=True` all of it is one. Nothing
of them runs: spaces, numbers and names of classes are read, everything else is left out.
"""

from __future__ import annotations

import base64
import io
import json
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import attrs
import numpy as np
from gymnasium import spaces

from rlk.errors import BadFile
from rlk.records import Array
from rlk_baselines.tensorflow.inert_pickle import Inert, inert_load, is_plain, path_of
from rlk_mlp.config import ACTIVATION_NAMES

#: The entries of such a zip.
ENTRIES = {"data", "parameters", "parameter_list"}
#: Where the classes of its policies are.
_POLICIES = "stable_baselines."
_PICKLE = ":serialized:"


@attrs.frozen
class SavedThere:
    """A model of Stable Baselines in a file."""

    path: Path
    settings: Mapping[str, Any]  #: arguments of its constructor, those that could be read
    left_out: tuple[str, ...]  #: the names of the others
    policy: str | None  #: the documented name of its policy; None for a class of a program
    policy_kwargs: Mapping[str, Any]
    observation_space: Any  #: or None, if it could not be read
    action_space: Any
    n_envs: int
    parameters: Mapping[str, Array]  #: by TensorFlow's names, without their ":0"


def is_from_there(path: Path) -> bool:
    """Whether a file is one that Stable Baselines has written."""
    if zipfile.is_zipfile(path):
        with zipfile.ZipFile(path) as archive:
            return set(archive.namelist()) >= ENTRIES
    try:
        found = inert_load(path.read_bytes())
    except ValueError:
        return False
    return isinstance(found, tuple) and len(found) == 2 and isinstance(found[0], dict)


def read(path: Path) -> SavedThere:
    """The model in a file.

    Raises:
        BadFile: if it is damaged.
    """
    try:
        found, arrays = _zipped(path) if zipfile.is_zipfile(path) else _pickled(path)
        parameters = {name.removesuffix(":0"): array for name, array in arrays.items()}
        kwargs = found.pop("policy_kwargs", None) or {}
        policy = path_of(found.pop("policy")) or ""
        observation_space = space_of(found.pop("observation_space", None))
        action_space = space_of(found.pop("action_space", None))
        n_envs = int(found.pop("n_envs", None) or 1)
    except (zipfile.BadZipFile, ValueError, KeyError, TypeError, AttributeError, OSError) as error:
        raise BadFile(f"{path} is damaged: {type(error).__name__}: {error}.") from None
    settings = {name: plain(value) for name, value in found.items() if is_plain(value)}
    return SavedThere(
        path,
        settings,
        tuple(sorted(found.keys() - settings.keys())),
        policy.rpartition(".")[2] if policy.startswith(_POLICIES) else None,
        {name: _keyword(value) for name, value in dict(kwargs).items()},
        observation_space,
        action_space,
        n_envs,
        parameters,
    )


def _zipped(path: Path) -> tuple[dict[str, Any], dict[str, Array]]:
    """The settings and the parameters in a zip."""
    with zipfile.ZipFile(path) as archive:
        data = json.loads(archive.read("data"))
        arrays = np.load(io.BytesIO(archive.read("parameters")), allow_pickle=False)
        parameters = {name: arrays[name] for name in arrays.files}
    return {name: value_of(value) for name, value in data.items()}, parameters


def _pickled(path: Path) -> tuple[dict[str, Any], dict[str, Array]]:
    """The settings and the parameters in a pickle.

    Raises:
        ValueError: if the parameters have no names, as before Stable Baselines 2.5.
    """
    data, parameters = inert_load(path.read_bytes())
    if not isinstance(parameters, dict):
        raise ValueError("its parameters have no names: it is of a release before 2.5")
    return dict(data), parameters


def value_of(value: Any) -> Any:
    """A value of the JSON, looked into if it is a pickle; an `Inert` if that cannot be."""
    if not (isinstance(value, dict) and _PICKLE in value):
        return value
    try:
        return inert_load(base64.b64decode(value[_PICKLE]))
    except ValueError:
        return Inert()


def plain(value: Any) -> Any:
    """A number of numpy as one of Python's."""
    return value.item() if isinstance(value, np.generic) else value


def _keyword(value: Any) -> Any:
    """A value of `policy_kwargs`; an activation of TensorFlow by the name that torch has for it."""
    name = (path_of(value) or "").rpartition(".")[2]
    return name if name in ACTIVATION_NAMES else value


def space_of(value: Any) -> Any:
    """The space of Gymnasium that an inert one of gym stands for; None for any that is unknown."""
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
