"""Hidden layers in torch, and their numpy twins on the same memory.

Layers are applied with `addmm` on cached parameters: a call of a module costs as much as a small
    product.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from rlk import spaces
from rlk.records import Array
from rlk_mlp.config import MlpConfig
from rlk_networks import (
    Architecture,
    Linear,
    NumpyForward,
    flat_size,
    grouped_product,
    grouping,
)

ACTIVATIONS: dict[str, Callable[[Tensor], Tensor]] = {
    "tanh": torch.tanh,
    "relu": torch.relu,
    "elu": F.elu,
    "leaky_relu": F.leaky_relu,
}
#: In place, where what comes out of a product is of no more use: half the time for a large one.
IN_PLACE: dict[str, Callable[[Tensor], Tensor]] = {
    "tanh": torch.tanh_,
    "relu": torch.relu_,
    "elu": lambda x: F.elu(x, inplace=True),
    "leaky_relu": lambda x: F.leaky_relu(x, inplace=True),
}
#: A slope times the derivative, given what came out.
SLOPES: dict[str, Callable[[Tensor, Tensor], Tensor]] = {
    "tanh": lambda slope, y: slope * (1.0 - y * y),
    "relu": lambda slope, y: torch.ops.aten.threshold_backward(slope, y, 0.0),
    "elu": lambda slope, y: slope * torch.where(y > 0.0, 1.0, y + 1.0),
    "leaky_relu": lambda slope, y: slope * torch.where(y > 0.0, 1.0, 0.01),
}
#: Those of which numpy has a twin that costs one call.
NUMPY_ACTIVATIONS: dict[str, Callable[[Array], Any]] = {
    "tanh": lambda x: np.tanh(x, out=x),
    "relu": lambda x: np.maximum(x, 0.0, out=x),
}

#: choice, slope, first -> slope; see `BatchedLayers.with_slopes`.
SlopesOf = Callable[..., Tensor]


class Mlp(Architecture):
    """The architecture.

    An encoder that flattens (and has the shared layers), and hidden layers for heads.
    """

    def __init__(self, config: MlpConfig | None = None) -> None:
        self.config = config or MlpConfig()

    def encoder(self, observation_space: Any) -> nn.Module:
        layers = Layers(flat_size(observation_space), self.config.shared(), self.config)
        layers.identity = not self.config.shared() and spaces.kind(observation_space) != "Image"
        layers.identity = layers.identity and len(observation_space.shape or (1,)) == 1
        return layers

    def trunk(self, role: str, features: int, *, extra: int = 0, n_copies: int = 1) -> nn.Module:
        sizes = self.config.own(role)
        if n_copies > 1:
            return BatchedLayers(features + extra, sizes, n_copies, self.config)
        return Layers(features + extra, sizes, self.config)


def initialise(weight: Tensor, kind: str) -> None:
    """Fill [out, in] weights in place, with torch's global generator as it stands."""
    if kind == "orthogonal":
        nn.init.orthogonal_(weight, gain=math.sqrt(2))
    else:
        nn.init.xavier_uniform_(weight)


class Layers(nn.Module):
    """Linear layers with an activation each: [B, ...] flattened to [B, F].

    None at all passes it on.

    Weights are [inputs, outputs], as the seed system's are: the backward pass then has no
    transpositions.

    Attributes:
        features: F, the size of what comes out.
        identity: whether it passes on what comes in, so that it need not be called.
    """

    def __init__(self, inputs: int, sizes: list[int], config: MlpConfig) -> None:
        super().__init__()
        self.features = sizes[-1] if sizes else inputs
        self.identity = False
        self._act = ACTIVATIONS[config.act_fun]
        self._numpy_act = NUMPY_ACTIVATIONS.get(config.act_fun)
        self.layers = nn.ModuleList(
            Linear(before, after) for before, after in zip([inputs, *sizes], sizes, strict=False)
        )
        self.norms = nn.ModuleList(nn.LayerNorm(size) for size in sizes if config.layer_norm)
        self._normalises = config.layer_norm and bool(sizes)
        self._cached: list[tuple[Any, Any]] = []
        for layer in self.layers:
            initialise(layer.weight.detach().T, config.init)  # type: ignore[operator]
            self._cached.append((layer.weight, layer.bias))

    def forward(self, x: Tensor) -> Tensor:
        if x.dim() > 2:
            x = x.flatten(1)
        if self._normalises:
            for (weight, bias), norm in zip(self._cached, self.norms, strict=True):
                x = self._act(norm(torch.addmm(bias, x, weight)))
            return x
        for weight, bias in self._cached:
            x = self._act(torch.addmm(bias, x, weight))
        return x

    def numpy_forward(self) -> NumpyForward | None:
        """The same in numpy on the same memory; None with layer norm or an odd activation."""
        act = self._numpy_act
        if self._normalises or (act is None and len(self._cached) > 0):
            return None
        layers = [(weight.detach().numpy(), bias.detach().numpy()) for weight, bias in self._cached]

        def forward(x: Array) -> Array:
            if x.ndim > 2:
                x = x.reshape(len(x), -1)
            for weight, bias in layers:
                x = x.dot(weight)  # half of what `@` takes for a small one
                x += bias
                act(x)  # type: ignore[misc]
            return x

        return forward


class BatchedLayers(nn.Module):
    """Several independent stacks evaluated in one batched product: [B, in] to [n_copies, B, F]."""

    def __init__(self, inputs: int, sizes: list[int], n_copies: int, config: MlpConfig) -> None:
        super().__init__()
        self.features, self.n_copies = (sizes[-1] if sizes else inputs), n_copies
        self._act, self._slope = IN_PLACE[config.act_fun], SLOPES[config.act_fun]
        self.weights, self.biases = nn.ParameterList(), nn.ParameterList()
        self.scales, self.shifts = nn.ParameterList(), nn.ParameterList()
        for before, after in zip([inputs, *sizes], sizes, strict=False):
            weight = torch.empty(n_copies, before, after)
            for copy in weight:
                initialise(copy.T, config.init)
            self.weights.append(nn.Parameter(weight))
            self.biases.append(nn.Parameter(torch.zeros(n_copies, 1, after)))
            if config.layer_norm:
                self.scales.append(nn.Parameter(torch.ones(n_copies, 1, after)))
                self.shifts.append(nn.Parameter(torch.zeros(n_copies, 1, after)))
        # Plain lists: looking a parameter up in a ParameterList takes longer than a small product.
        self._cached = list(zip(self.weights, self.biases, strict=True))
        self._norms = list(zip(self.scales, self.shifts, strict=True))

    def forward(self, x: Tensor) -> Tensor:
        x = x.expand(self.n_copies, *x.shape)
        if self._norms:
            for (weight, bias), (scale, shift) in zip(self._cached, self._norms, strict=True):
                x = F.layer_norm(torch.baddbmm(bias, x, weight), (weight.shape[-1],))
                x = self._act(torch.addcmul(shift, x, scale))
            return x
        for weight, bias in self._cached:
            x = self._act(torch.baddbmm(bias, x, weight))
        return x

    @torch.no_grad()
    def with_slopes(self, x: Tensor) -> tuple[Tensor, SlopesOf] | None:
        """What it makes of x, float [B, in], and its slopes, without autograd.

        For whoever wants to follow one copy back for each row: half the work where there are two.

        Returns:
            float [n_copies, B, F], and a function of `choice`, int [B], one copy for each row, of
            `slope`, float [B, F], by what that copy made of the row, and of `first`: it gives the
            slope by x[:, first:], float [B, in - first]. None with layer norm, and off the CPU: how
            many rows follow which copy is a number that a GPU would be waited for.
        """
        if self._norms or x.device.type != "cpu":
            return None
        kept = []
        x = x.detach().expand(self.n_copies, *x.shape)
        for weight, bias in self._cached:
            x = self._act(torch.baddbmm(bias, x, weight))
            kept.append(x)

        @torch.no_grad()
        def slopes_of(choice: Tensor, slope: Tensor, first: int = 0) -> Tensor:
            order, ends = grouping(choice, self.n_copies)
            # Rows by their number in all copies: two indices for each take three times as long.
            choice, slope = choice[order], slope.index_select(0, order)
            row = choice * len(choice) + order
            for number in range(len(kept) - 1, -1, -1):
                made = kept[number].flatten(0, 1).index_select(0, row)
                slope = self._slope(slope, made)
                weight = self._cached[number][0]
                if number > 0:
                    slope = grouped_product(slope, weight.mT, ends)
                else:  # few inputs: all copies in one product, and a choice, are sooner
                    weight = weight[:, first:]
                    every = slope @ weight.flatten(0, 1).T
                    rows = torch.arange(len(choice), device=choice.device)
                    slope = every.view(len(rows), *weight.shape[:2])[rows, choice]
            slope = slope if kept else slope[:, first:]
            return torch.empty_like(slope).index_copy(0, order, slope)

        return x, slopes_of
