"""Hidden layers: linear layers with an activation after each. B batch, F features."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from torch import Tensor, nn

from rlk_mlp.activations import activation, function_of
from rlk_mlp.config import LayersConfig
from rlk_networks import Linear, fill_uniform


def initialise(weight: Tensor, bias: Tensor, kind: str) -> None:
    """Fill [outputs, inputs] weights and biases in place, from torch's global generator.

    Args:
        kind: `orthogonal` with gain sqrt(2) or `xavier` for Xavier's uniform, with biases of zero;
            or `uniform` for both, as `torch.nn.Linear` has them.
    """
    if kind == "uniform":
        fill_uniform(weight, bias)
        return
    nn.init.zeros_(bias)
    if kind == "orthogonal":
        nn.init.orthogonal_(weight, gain=math.sqrt(2))
    else:
        nn.init.xavier_uniform_(weight)


class Layers(nn.Module):
    """Hidden layers from [B, ...], which is flattened, to [B, F]; without sizes, it only flattens.

    Each layer is linear, then layer norm if the settings say so, then the activation.

    Attributes:
        features: F, the size of the output.
        act_fun: the name of the activation, or the activation itself.
    """

    def __init__(self, inputs: int, sizes: list[int], config: LayersConfig) -> None:
        super().__init__()
        self.features = sizes[-1] if sizes else inputs
        self.act_fun = activation(config.act_fun)
        self.layers = nn.ModuleList(
            Linear(before, after) for before, after in zip([inputs, *sizes], sizes, strict=False)
        )
        for layer in self.layers:
            weight, bias = layer.weight.detach(), layer.bias.detach()  # type: ignore[operator]
            initialise(weight.T, bias, config.init)
        self.norms = nn.ModuleList(nn.LayerNorm(size) for size in sizes if config.layer_norm)
        norms: list[Any] = list(self.norms) or [None] * len(sizes)
        self._layers: list[tuple[Any, Any]] = list(zip(self.layers, norms, strict=True))
        self._hooks = [hooks for layer in self.layers for hooks in _hooks_of(layer)]

    def forward(self, x: Tensor) -> Tensor:
        if x.dim() > 2:
            x = x.flatten(1)
        act = function_of(self.act_fun)
        # Only a call runs hooks, in which `spectral_norm` and `prune` compute the weight. It takes
        # half as long as the product, a sixth of a small network's forward. The activation
        # overwrites its argument; a hook may have kept the output.
        has_hooks = any(self._hooks)
        for layer, norm in self._layers:
            x = layer(x).clone() if has_hooks else layer.forward(x)
            x = act(x if norm is None else norm(x))
        return x


def _hooks_of(layer: nn.Module) -> tuple[Mapping[int, Any], ...]:
    """The mappings in which torch keeps a layer's hooks: empty while there are none."""
    return (
        layer._forward_pre_hooks,
        layer._forward_hooks,
        layer._backward_pre_hooks,
        layer._backward_hooks,
    )


class EncoderAndLayers(nn.Module):
    """An encoder, and the hidden layers after it that heads share: [B, ...] to [B, F]."""

    def __init__(self, encoder: nn.Module, layers: Layers) -> None:
        super().__init__()
        self.encoder, self.layers, self.features = encoder, layers, layers.features

    def forward(self, x: Any) -> Tensor:
        return self.layers(self.encoder(x))


def with_shared_layers(encoder: Any, config: LayersConfig) -> nn.Module:
    """An encoder with `features`, followed by the shared layers of the settings, if any."""
    made: nn.Module = encoder
    shared = config.shared()
    if not shared:
        return made
    return EncoderAndLayers(made, Layers(encoder.features, shared, config))
