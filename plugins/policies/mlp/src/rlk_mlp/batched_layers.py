"""Several independent stacks of hidden layers, evaluated together: C copies, B batch, F features.

The products of all copies are one batched product (`baddbmm`), which is faster than one after the
other. Twin critics are such copies.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from rlk_mlp.activations import activation, function_of
from rlk_mlp.config import LayersConfig
from rlk_mlp.layers import initialise
from rlk_networks import own_modules


class BatchedLayers(nn.Module):
    """From [B, inputs] to [C, B, F]; each copy computes the same as separate `Layers`.

    `layers(x, n)` evaluates only the first n copies, [n, B, F].

    Attributes:
        features: F. n_copies: C. act_fun: the name of the activation, or the activation itself.
        weights, biases: of each layer, [C, inputs, outputs] and [C, 1, outputs].
        scales, shifts: of each layer norm, [C, 1, outputs]; empty without layer norm.
    """

    def __init__(self, inputs: int, sizes: list[int], n_copies: int, config: LayersConfig) -> None:
        super().__init__()
        self.features, self.n_copies = (sizes[-1] if sizes else inputs), n_copies
        self.act_fun = activation(config.act_fun)
        self.weights, self.biases = nn.ParameterList(), nn.ParameterList()
        self.scales, self.shifts = nn.ParameterList(), nn.ParameterList()
        for before, after in zip([inputs, *sizes], sizes, strict=False):
            weight, bias = torch.empty(n_copies, before, after), torch.empty(n_copies, 1, after)
            for copy in range(n_copies):
                initialise(weight[copy].T, bias[copy, 0], config.init)
            self.weights.append(nn.Parameter(weight))
            self.biases.append(nn.Parameter(bias))
            if config.layer_norm:
                self.scales.append(nn.Parameter(torch.ones(n_copies, 1, after)))
                self.shifts.append(nn.Parameter(torch.zeros(n_copies, 1, after)))

    def forward(self, x: Tensor, n_copies: int | None = None) -> Tensor:
        x = x.expand(n_copies or self.n_copies, *x.shape)
        act = function_of(self.act_fun)
        for weight, bias, *norm in self._layers_of(n_copies):
            x = torch.baddbmm(bias, x, weight)
            if norm:
                scale, shift = norm
                x = torch.addcmul(shift, F.layer_norm(x, x.shape[-1:]), scale)
            x = act(x)
        return x

    def _layers_of(self, n_copies: int | None) -> list[tuple[Tensor, ...]]:
        """The tensors of the first copies: weight, bias, and with layer norm scale and shift."""
        own = own_modules(self)
        kinds = [_tensors_of(own[name]) for name in ("weights", "biases", "scales", "shifts")]
        layers = list(zip(*[kind for kind in kinds if kind], strict=True))
        if n_copies is None:
            return layers
        return [tuple([each[:n_copies] for each in layer]) for layer in layers]


def _tensors_of(own: nn.ParameterList) -> list[Any]:
    """The tensors of a list, from the dict that torch keeps its parameters in.

    Going through the list itself takes as long as a small product: see `own_modules`. A tensor that
    torch computes (`parametrize`, `weight_norm`) is not in the dict, but only in the list.
    """
    found = list(own._parameters.values())
    return found if len(found) == len(own) else list(own)
