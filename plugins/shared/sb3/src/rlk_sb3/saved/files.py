"""Reads files of Stable-Baselines3 and sb3-contrib: a zip of settings (JSON) and torch parameters.

No code in them runs: parameters are loaded with `weights_only`, and only spaces, numbers and class
names are read from the pickles in the JSON.
"""

from __future__ import annotations

import io
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from torch import nn

from rlk.records import Array
from rlk_baselines.arguments import plain_number
from rlk_baselines.foreign_files.checked_content import (
    checked_arrays,
    checked_count,
    checked_keywords,
    checked_n_envs,
    entries_of,
    refusing_damage,
    settings_in,
    weights_in,
)
from rlk_baselines.foreign_files.inert_pickle import Inert, is_plain, path_of
from rlk_baselines.foreign_files.saved_there import SavedThere, space_of, value_of
from rlk_baselines.refusals import Refused
from rlk_sb3.extractors import CLASS
from rlk_sb3.images import is_scaled
from rlk_sb3.saved.classes import class_of
from rlk_sb3.saved.dict_order import in_alphabetical_order
from rlk_sb3.saved.names import number_of_critics
from rlk_sb3.saved.optimisers import optimiser_in

_PARAMETERS = "policy.pth"
#: The files of other variables, such as the entropy coefficient; which one depends on the release.
_VARIABLES = ("pytorch_variables.pth", "tensors.pth")
#: Class names of policies -> the names that constructors take.
_POLICIES = {
    **dict.fromkeys(("ActorCriticPolicy", "DQNPolicy", "SACPolicy", "TD3Policy"), "MlpPolicy"),
    "ActorCriticCnnPolicy": "CnnPolicy",
    "MultiInputActorCriticPolicy": "MultiInputPolicy",
    "MaskableActorCriticPolicy": "MlpPolicy",
    "MaskableActorCriticCnnPolicy": "CnnPolicy",
    "MaskableMultiInputActorCriticPolicy": "MultiInputPolicy",
    "RecurrentActorCriticPolicy": "MlpLstmPolicy",
    "RecurrentActorCriticCnnPolicy": "CnnLstmPolicy",
    "RecurrentMultiInputActorCriticPolicy": "MultiInputLstmPolicy",
}
#: The packages with policy classes that have names here.
_LIBRARIES = ("stable_baselines3.", "sb3_contrib.")
#: The modules of buffer classes that models have by default.
_BUFFERS = ("stable_baselines3.common.buffers.", "sb3_contrib.common.maskable.buffers.")
#: Whole numbers that no config checks -> the least that they may be.
_COUNTS = {"num_timesteps": 0, "_stats_window_size": 1}
#: Keywords of policies that do not matter for acting: those of the optimiser, and of the start.
_NOT_FOR_ACTING = {
    *("optimizer_class", "optimizer_kwargs", "log_std_init", "ortho_init", "device"),
    *("use_sde", "sde_net_arch"),
}


def is_from_there(path: Path) -> bool:
    """Whether Stable-Baselines3, or sb3-contrib, wrote a file."""
    return entries_of(path) >= {"data", _PARAMETERS}


def read(path: Path) -> tuple[str, SavedThere]:
    """Read a saved model: the name of its class, and its content.

    Raises:
        BadFile: if the file is damaged.
        Refused: if models of its class are not loaded, or a custom extractor takes the keys of a
            Dict in an order that is not alphabetical.
    """
    with refusing_damage(path):
        with zipfile.ZipFile(path) as archive:
            data = settings_in(archive)
            parameters = _weights(weights_in(archive, _PARAMETERS))
            for entry in {*_VARIABLES} & {*archive.namelist()}:
                parameters |= _weights(weights_in(archive, entry))
        found = {name: _constant(value_of(value)) for name, value in data.items()}
        return _model_in(path, found, parameters)


def _model_in(
    path: Path, found: dict[str, Any], parameters: dict[str, Array]
) -> tuple[str, SavedThere]:
    """The model with these settings, which are taken out, and parameters."""
    policy = path_of(found.pop("policy_class")) or ""
    kwargs = checked_keywords(found.pop("policy_kwargs", None))
    keys = _keys(found.get("observation_space"))
    observation_space = space_of(found.pop("observation_space", None))
    action_space = space_of(found.pop("action_space", None))
    n_envs = checked_n_envs(found.pop("n_envs", None))
    for name, least in _COUNTS.items():
        if name in found:
            found[name] = checked_count(found[name], name, least)
    if keys != sorted(keys):
        _refuse_own_order(path, kwargs, keys)
        parameters = in_alphabetical_order(parameters, keys, observation_space)
    if "_stats_window_size" in found:
        found["stats_window_size"] = found["_stats_window_size"]
    if "train_freq" in found:
        found["train_freq"] = _frequency(found["train_freq"], found.get("n_episodes_rollout"))
    kind = class_of(path, policy, found, parameters)
    found = {name: one for name, one in found.items() if not _is_usual_buffer(one)}
    settings = {name: plain_number(value) for name, value in found.items() if is_plain(value)}
    optimiser = optimiser_in(kind, kwargs)
    settings |= optimiser.settings
    name = policy.rpartition(".")[2]
    keywords = _keywords(kwargs, parameters, observation_space, is_cnn="Cnn" in name)
    saved = SavedThere(
        path,
        settings,
        tuple(sorted(found.keys() - settings.keys())),
        _POLICIES.get(name, name) if policy.startswith(_LIBRARIES) else None,
        {**keywords, **optimiser.policy_kwargs},
        observation_space,
        action_space,
        n_envs,
        parameters,
        optimiser.elsewhere,
    )
    return kind, saved


def _refuse_own_order(path: Path, kwargs: Mapping[str, Any], keys: list[str]) -> None:
    """Raise Refused for a custom extractor, which may have concatenated these keys in any order."""
    if kwargs.get(CLASS) is not None:
        raise Refused(
            f"{path} has a {CLASS} for a Dict whose parts are in the order {', '.join(keys)}, and "
            "here they are in alphabetical order. Train it with a space that has this order, as "
            "spaces.Dict({…}) of a dict has."
        )


def _keys(space: Any) -> list[str]:
    """The keys of an inert Dict, in its order."""
    is_dict = type(space).__name__ == "Dict"
    return [str(key) for key in space.__dict__["spaces"]] if is_dict else []


def _weights(packed: io.BytesIO) -> dict[str, Array]:
    """The tensors in a file of torch, as arrays; other values are ignored.

    Raises:
        ValueError: if it contains code, or is damaged.
    """
    try:
        found = torch.load(packed, map_location="cpu", weights_only=True)
    except Exception as error:  # damaged bytes may raise anything
        raise ValueError("its parameters are more than tensors, or none") from error
    return checked_arrays(
        {name: value.detach().numpy() for name, value in found.items() if torch.is_tensor(value)}
    )


def _is_usual_buffer(value: Any) -> bool:
    """Whether a value is a buffer class of Stable-Baselines3's, or of sb3-contrib's, own."""
    return (path_of(value) or "").startswith(_BUFFERS)


def _constant(value: Any) -> Any:
    """The number of a constant schedule, which is how a clip range is saved; else the value."""
    inner = getattr(value, "value_schedule", value)
    is_constant = type(inner).__name__ == "ConstantSchedule" and isinstance(inner, Inert)
    return getattr(inner, "val", value) if is_constant else value


def _frequency(value: Any, episodes: Any) -> Any:
    """`train_freq` as a number of steps, or a number and its unit.

    Before 1.0, -1 meant that `n_episodes_rollout`, here `episodes`, counts.
    """
    if not isinstance(value, Inert):
        return [episodes, "episode"] if value == -1 else value
    count, unit = value.arguments
    return [count, unit.arguments[0]]


def _keywords(
    kwargs: Mapping[str, Any], parameters: Mapping[str, Array], space: Any, *, is_cnn: bool
) -> dict[str, Any]:
    """`policy_kwargs` as models here take them, without those that do not matter for acting."""
    found = {name: value for name, value in kwargs.items() if name not in _NOT_FOR_ACTING}
    if not is_scaled(space, is_cnn=is_cnn):
        found.pop("normalize_images", None)
    activation = (path_of(found.get("activation_fn")) or "").rpartition(".")[2]
    if hasattr(nn, activation):
        found["activation_fn"] = getattr(nn, activation)
    if found.get(CLASS) is not None:
        found[CLASS] = {"callable": _name_of_class(found[CLASS])}
    if n_critics := number_of_critics(parameters):
        found["n_critics"] = n_critics
    sizes = found.get("net_arch")
    if "mlp_extractor.shared_net.0.weight" in parameters and isinstance(sizes, list):
        # Before 1.8, the numbers in a list were sizes of layers that policy and value share.
        found["net_arch"] = sizes if isinstance(sizes[-1], dict) else [*sizes, {}]
    elif isinstance(sizes, list) and len(sizes) == 1 and isinstance(sizes[0], dict):
        found["net_arch"] = sizes[0]
    return found


def _name_of_class(value: Any) -> str:
    """The name of a class that a file refers to, or that cloudpickle wrote into it as code."""
    path = path_of(value)
    if path is not None:
        return path.rpartition(".")[2]
    names = [one for one in getattr(value, "arguments", ()) if isinstance(one, str)]
    return names[0] if names else "…"
