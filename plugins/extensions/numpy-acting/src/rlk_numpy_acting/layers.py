"""The numpy forward of every supported kind of module, found by its exact type.

A subclass counts as unknown, because its `forward` may differ. A module of an unknown type may
offer a numpy forward itself. Dimensions: B batch, F features, D action dimensions, A actions.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from torch import nn

from rlk.records import Array
from rlk_action_masking.masks import KEY
from rlk_action_masking.network import (
    MaskDropped,
    MaskedEncoder,
    MaskedHead,
    observation_without_mask,
)
from rlk_diag_gaussian.distribution import GaussianHead
from rlk_gsde.head import NoiseHead
from rlk_mlp.layers import Layers
from rlk_multi_input.network import ConcatenatedKeys
from rlk_networks import Head, HiddenLayers, Linear
from rlk_numpy_acting.distributions import distribution_of
from rlk_numpy_acting.forward import Forward, StaysInTorch, chained
from rlk_off_policy.heads import DeterministicHead, DuelingHead

#: In place, because each is applied to a new product. Others would need several numpy calls.
ACTIVATIONS: dict[str, Callable[[Array], Any]] = {
    "tanh": lambda x: np.tanh(x, out=x),
    "relu": lambda x: np.maximum(x, 0.0, out=x),
}


def forward_of(module: nn.Module | HiddenLayers) -> Forward:
    """The numpy forward of a module.

    Raises:
        StaysInTorch: if the type of the module, or of a part of it, is not supported, and it offers
            no `numpy_forward()`.
    """
    make = _FORWARDS.get(type(module), _offered)
    return make(module)


def _offered(module: Any) -> Forward:
    """The module's own `numpy_forward()`, unless a subclass has another `forward`."""
    for kind in type(module).__mro__:
        if "numpy_forward" in vars(kind):
            return module.numpy_forward()
        if "forward" in vars(kind):
            break
    raise StaysInTorch(f"module {type(module).__name__}, which has no numpy_forward()")


def _linear(module: Linear) -> Forward:
    weight, bias = _arrays(module)

    def forward(x: Array) -> Array:
        x = x.dot(weight)  # takes half as long as `@` for a small matrix
        x += bias
        return x

    return forward


def _hidden_layers(module: Layers) -> Forward:
    if len(module.layers) and module.act_fun not in ACTIVATIONS:
        raise StaysInTorch(f"activation {module.act_fun}")
    layers = [_arrays(layer) for layer in module.layers]
    norms: list[Forward | None] = [_layer_norm(norm) for norm in module.norms]
    norms = norms or [None] * len(layers)
    act = ACTIVATIONS.get(str(module.act_fun), _unchanged)

    def forward(x: Array) -> Array:
        if x.ndim > 2:
            x = x.reshape(len(x), -1)
        for (weight, bias), norm in zip(layers, norms, strict=True):
            x = x.dot(weight)
            x += bias
            act(x if norm is None else norm(x))
        return x

    return forward


def _layer_norm(module: Any) -> Forward:
    """In place, because it is applied to a new product."""
    (scale, shift), size, eps = _arrays(module), module.normalized_shape[0], module.eps

    def forward(x: Array) -> Array:
        x -= np.add.reduce(x, axis=1, keepdims=True) / size
        variance = np.einsum("bf,bf->b", x, x) / size
        x *= (1.0 / np.sqrt(variance + eps))[:, None]
        x *= scale
        x += shift
        return x

    return forward


def _head(module: Head) -> Forward:
    return chained(forward_of(module.trunk), forward_of(module.out))


def _deterministic_head(module: DeterministicHead) -> Forward:
    return chained(forward_of(module.trunk), forward_of(module.out), np.tanh)


def _gaussian_head(module: GaussianHead) -> Forward:
    mean, log_std = _linear(module.mean), module.log_std.detach().numpy()
    size = len(log_std)

    def forward(features: Array) -> Array:
        parameters = np.empty((len(features), 2 * size), dtype=np.float32)
        parameters[:, :size] = mean(features)
        parameters[:, size:] = log_std
        return parameters

    return forward


def _noise_head(module: NoiseHead) -> Forward:
    linear, log_std = _linear(module.mean), module.log_std.detach().numpy()
    positive, size = (_expln if module.use_expln else np.exp), module.size
    bound, n_features = module.clip_mean, len(log_std)

    def forward(features: Array) -> Array:
        mean = linear(features)
        if bound is not None:
            mean = np.minimum(np.maximum(mean, -bound), bound)
        parameters = np.empty((len(features), size + n_features * size), dtype=np.float32)
        parameters[:, :size] = mean
        weighted = parameters[:, size:].reshape(len(features), n_features, size)  # a view
        np.multiply(features[:, :, None], positive(log_std), out=weighted)
        return parameters

    return forward


def _expln(x: Array) -> Array:
    low, high = np.minimum(x, 0.0), np.maximum(x, 0.0)
    return np.where(x > 0, np.log1p(high) + np.float32(1.0), np.exp(low))


def _dueling_head(module: DuelingHead) -> Forward:
    advantages, values = forward_of(module.advantage), forward_of(module.value)

    def forward(features: Array) -> Array:
        advantage = advantages(features)
        return values(features) + advantage - advantage.mean(1, keepdims=True)

    return forward


def _concatenated_keys(module: ConcatenatedKeys) -> Forward:
    if len(module.cnns):
        raise StaysInTorch("images among the observations")
    keys = tuple(module.spaces)

    def concatenated(observation: Mapping[str, Array]) -> Array:
        parts = [observation[key] for key in keys]
        return np.concatenate([part.reshape(len(part), -1) for part in parts], axis=1)

    return chained(concatenated, forward_of(module.layers))


def _masked_encoder(module: MaskedEncoder) -> Forward:
    encode, keys = forward_of(module.encoder), module.keys

    def forward(observation: Mapping[str, Array]) -> Array:
        features = encode(observation_without_mask(observation, keys))
        return np.concatenate((features, observation[KEY]), axis=1)

    return forward


def _masked_head(module: MaskedHead) -> Forward:
    head, size = forward_of(module.head), module.distribution.mask_size
    masked = distribution_of(module.distribution).masked
    if masked is None:
        raise StaysInTorch(f"masks of {type(module.distribution).__name__}")
    return lambda x: masked(head(x[:, :-size]), x[:, -size:])


def _mask_dropped(module: MaskDropped) -> Forward:
    head, size = forward_of(module.head), module.size
    return lambda x: head(x[:, :-size])


def _unchanged(x: Array) -> Array:
    return x


def _arrays(layer: Any) -> tuple[Array, Array]:
    """Weight [inputs, outputs] and bias of a linear layer, sharing their memory.

    Raises:
        StaysInTorch: if torch computes one of them from other parameters (`parametrize`): each
            reading of it is new memory, which follows no update.
    """
    weight, bias = layer.weight, layer.bias
    if not (isinstance(weight, nn.Parameter) and isinstance(bias, nn.Parameter)):
        raise StaysInTorch("weights that are computed from other parameters")
    return weight.detach().numpy(), bias.detach().numpy()


_FORWARDS: dict[type, Callable[[Any], Forward]] = {
    DeterministicHead: _deterministic_head,
    DuelingHead: _dueling_head,
    GaussianHead: _gaussian_head,
    Head: _head,
    Layers: _hidden_layers,
    Linear: _linear,
    MaskDropped: _mask_dropped,
    MaskedEncoder: _masked_encoder,
    MaskedHead: _masked_head,
    NoiseHead: _noise_head,
    ConcatenatedKeys: _concatenated_keys,
}
