"""Models as pickles, for `save(path, cloudpickle=True)`.

A pickle holds a dict of plain values and arrays, which can be read without running code. If it has
code, such as functions among the settings, this only runs if the program allows it.
"""

from __future__ import annotations

import pickle
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import cloudpickle
import torch

from rlk.errors import BadFile
from rlk.protocols import State
from rlk.saving.restored_parts import bad_if_it_fails
from rlk_baselines.foreign_files.inert_pickle import RefusedPickle, plain_load

#: The key that marks an array as a tensor.
_TENSOR = "tensor"


def as_pickle_bytes(state: State) -> bytes:
    """A state as a pickle."""
    return bytes(cloudpickle.dumps(("rlk_baselines", _arrays(state))))


def state_in_pickle(path: Path, *, runs_code: bool) -> State:
    """The state in a pickle.

    Args:
        path: the file.
        runs_code: whether code in the file may run.

    Raises:
        BadFile: if the file is not a saved model, or has code that may not run.
    """
    if runs_code:
        with bad_if_it_fails(f"{path} cannot be read as a pickle"), path.open("rb") as file:
            found = pickle.load(file)
    else:
        try:
            found = plain_load(path)
        except RefusedPickle as error:
            raise BadFile(
                f"{error} If you trust the file, let it: load({str(path)!r}, cloudpickle=True)."
            ) from None
        except BadFile as error:
            raise BadFile(f"{error} A model is in a zip, or in a pickle.") from None
    if not isinstance(found, tuple) or found[:1] != ("rlk_baselines",):
        raise BadFile(
            f"{path} is a pickle, but neither of a model of rlk_baselines nor of Stable Baselines."
        )
    return _tensors(found[1])


def _arrays(value: Any) -> Any:
    """Replace tensors by marked arrays, in nested dicts and lists."""
    if isinstance(value, torch.Tensor):
        return {_TENSOR: value.detach().cpu().numpy()}
    if isinstance(value, Mapping):
        return {key: _arrays(item) for key, item in value.items()}
    return [_arrays(item) for item in value] if isinstance(value, (list, tuple)) else value


def _tensors(value: Any) -> Any:
    """The inverse of `_arrays`."""
    if isinstance(value, dict):
        if value.keys() == {_TENSOR}:
            return torch.from_numpy(value[_TENSOR].copy())
        return {key: _tensors(item) for key, item in value.items()}
    return [_tensors(item) for item in value] if isinstance(value, list) else value
