"""Reads the files of Stable Baselines 2.10: a zip of settings (JSON), parameters and their names.

Values that JSON cannot hold are stored as pickles; with `cloudpickle=True`, the whole file is one.
No code in them runs: only spaces, numbers and class names are read.
"""

from __future__ import annotations

import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from rlk.records import Array
from rlk_baselines.arguments import plain_number
from rlk_baselines.foreign_files.checked_content import (
    checked_arrays,
    checked_keywords,
    checked_n_envs,
    entries_of,
    refusing_damage,
    settings_in,
    weights_in,
)
from rlk_baselines.foreign_files.inert_pickle import inert_load, is_plain, path_of
from rlk_baselines.foreign_files.saved_there import SavedThere, space_of, value_of
from rlk_mlp.config import ACTIVATION_NAMES

#: The entries of such a zip.
ENTRIES = {"data", "parameters", "parameter_list"}
#: The prefix of the modules of its policy classes.
_POLICIES = "stable_baselines."


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
    settings = {name: plain_number(value) for name, value in found.items() if is_plain(value)}
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


def _keyword(value: Any) -> Any:
    """A value of `policy_kwargs`; an activation of TensorFlow becomes its name."""
    name = (path_of(value) or "").rpartition(".")[2]
    return name if name in ACTIVATION_NAMES else value
