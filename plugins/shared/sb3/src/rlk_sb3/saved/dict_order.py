"""Reorders the inputs of networks that take the parts of a Dict in another order than rlk's.

Stable-Baselines3 concatenates the features of a Dict's keys in the order of its space, rlk in
alphabetical order. Only the layers that take these features differ.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from gymnasium import spaces

from rlk.records import Array

_NETS = r"(mlp_extractor\.\w+_net|q_net(_target)?\.q_net|critic(_target)?\.qf\d+)"
_ACTORS = r"actor(_target)?\.(latent_pi|mu)"
#: The weights of layers that take the features if the network has hidden layers.
_HIDDEN = re.compile(rf"({_NETS}|{_ACTORS})\.0\.weight")
#: The weights that take the features in recurrent policies, where all other layers come later.
_RECURRENT = {"lstm_actor.weight_ih_l0", "lstm_critic.weight_ih_l0", "critic.weight"}
#: Weights of output layers, [outputs, inputs] -> the hidden layers before them, if there are any.
_OUTPUTS = {
    "action_net.weight": ("mlp_extractor.policy_net", "mlp_extractor.shared_net"),
    "value_net.weight": ("mlp_extractor.value_net", "mlp_extractor.shared_net"),
    "actor.mu.weight": ("actor.latent_pi",),
    "actor.log_std.weight": ("actor.latent_pi",),
}


def in_alphabetical_order(
    parameters: Mapping[str, Array], keys: Sequence[str], space: spaces.Dict
) -> dict[str, Array]:
    """The parameters of networks that take the parts of a Dict in alphabetical order.

    Args:
        parameters: those in a file of Stable-Baselines3, by name.
        keys: the keys of the observation space, in the order of the file.
        space: the observation space.
    """
    sizes = {key: _size(parameters, key, space[key]) for key in keys}
    ends = np.cumsum([sizes[key] for key in keys])
    columns = {key: np.arange(end - sizes[key], end) for key, end in zip(keys, ends, strict=True)}
    order = np.concatenate([columns[key] for key in sorted(keys)])
    found = dict(parameters)
    for name, weight in parameters.items():
        if _takes_features(name, parameters):
            actions = np.arange(len(order), weight.shape[1])  # critics take them after the features
            found[name] = weight[:, np.concatenate((order, actions))]
    return found


def _size(parameters: Mapping[str, Array], key: str, space: Any) -> int:
    """The number of features of a key: of its CNN, or of its flattened part."""
    end = f".extractors.{key}.linear.0.bias"
    found = [value.size for name, value in parameters.items() if name.endswith(end)]
    return found[0] if found else spaces.flatdim(space)


def _takes_features(name: str, parameters: Mapping[str, Array]) -> bool:
    """Whether a parameter is the weight of a layer that takes the features of all keys."""
    if "lstm_actor.weight_ih_l0" in parameters:
        return name in _RECURRENT
    if _HIDDEN.fullmatch(name):
        is_behind_shared = name.startswith(("mlp_extractor.policy_net", "mlp_extractor.value_net"))
        return not (is_behind_shared and "mlp_extractor.shared_net.0.weight" in parameters)
    hidden = _OUTPUTS.get(name)
    return hidden is not None and not any(f"{one}.0.weight" in parameters for one in hidden)
