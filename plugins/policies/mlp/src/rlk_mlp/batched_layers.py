"""Several independent stacks of hidden layers, evaluated together: C copies, B batch, F features.

The products of all copies are one batched product (`baddbmm`), which is faster than one after the
other. Critics of one observation and action are such copies.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from rlk_mlp.activations import ACTIVATIONS
from rlk_mlp.config import MlpConfig
from rlk_mlp.layers import initialise
from rlk_networks import first_copies


class BatchedLayers(nn.Module):
    """From [B, inputs] to [C, B, F]; each copy is what `Layers` of its own would be.

    `layers(x, n)` evaluates the first n copies alone, [n, B, F].

    Attributes:
        features: F. n_copies: C. act_fun: the name of the activation.
        weights, biases: of each layer, [C, inputs, outputs] and [C, 1, outputs].
        scales, shifts: of each layer norm, [C, 1, outputs]; empty without layer norm.
    """

    def __init__(self, inputs: int, sizes: list[int], n_copies: int, config: MlpConfig) -> None:
        super().__init__()
        self.features, self.n_copies = (sizes[-1] if sizes else inputs), n_copies
        self.act_fun = config.act_fun
        self.weights, self.biases = nn.ParameterList(), nn.ParameterList()
        self.scales, self.shifts = nn.ParameterList(), nn.ParameterList()
        for before, after in zip([inputs, *sizes], sizes, strict=False):
            weight = torch.empty(n_copies, before, after)
            for one in weight:
                initialise(one.T, config.init)
            self.weights.append(nn.Parameter(weight))
            self.biases.append(nn.Parameter(torch.zeros(n_copies, 1, after)))
            if config.layer_norm:
                self.scales.append(nn.Parameter(torch.ones(n_copies, 1, after)))
                self.shifts.append(nn.Parameter(torch.zeros(n_copies, 1, after)))

    def forward(self, x: Tensor, n_copies: int | None = None) -> Tensor:
        act = ACTIVATIONS[self.act_fun]
        n = self.n_copies if n_copies is None else n_copies
        x = x.expand(n, *x.shape)
        for number, (weight, bias) in enumerate(zip(self.weights, self.biases, strict=True)):
            x = torch.baddbmm(first_copies(bias, n), x, first_copies(weight, n))
            if len(self.scales):
                normalised = F.layer_norm(x, x.shape[-1:])
                scale = first_copies(self.scales[number], n)
                x = torch.addcmul(first_copies(self.shifts[number], n), normalised, scale)
            x = act(x)
        return x
