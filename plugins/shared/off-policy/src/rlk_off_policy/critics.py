"""Critics of continuous actions: independent Q functions as a batched module.

Shapes: B transitions, F features, D numbers per action, C critics, N outputs of each.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from rlk.protocols import Parameters
from rlk_networks import Trunk, fill_uniform, own_modules, weight_and_bias


class Critics(nn.Module):
    """Q_c(s, a) in one call: features [B, F] and actions [B, D] to float [C, B].

    With `n_outputs`, each critic gives N numbers for an action (quantiles, for example), float
    [C, B, N]. `critics(features, action, n)` evaluates only the first n critics.

    Args:
        trunk: the maker of hidden layers.
        action_size: D.
        n_critics: C, at least 1.
        n_outputs: N, at least 1. With None a critic gives one number, and there is no last axis.
    """

    def __init__(
        self, trunk: Trunk, action_size: int, n_critics: int = 2, n_outputs: int | None = None
    ) -> None:
        super().__init__()
        hidden = trunk("qf", extra=action_size, n_copies=n_critics)
        self.trunk, self.n_outputs, self.is_single = hidden, n_outputs, n_critics == 1
        n = 1 if n_outputs is None else n_outputs
        self.weight = nn.Parameter(torch.empty(n_critics, n, hidden.features))
        self.bias = nn.Parameter(torch.zeros(n_critics, n))
        for weight in self.weight.detach():
            nn.init.orthogonal_(weight)

    def initialise_uniform(self) -> None:
        fill_uniform(self.weight.detach(), self.bias.detach())

    def forward(self, features: Tensor, action: Tensor, n_critics: int | None = None) -> Tensor:
        trunk, (weight, bias) = own_modules(self)["trunk"], weight_and_bias(self)
        if n_critics is not None:
            weight, bias = weight[:n_critics], bias[:n_critics]
        x = torch.cat([features, action], -1)
        # A single stack of hidden layers has no axis of copies, and evaluates no part of them.
        hidden = trunk(x)[None] if self.is_single else trunk(x, n_critics)
        if self.n_outputs is not None:
            return torch.baddbmm(bias[:, None], hidden, weight.mT)
        # Not a product: of a matrix and a vector, a batched one takes six times as long.
        return (hidden * weight).sum(-1) + bias

    def hidden(self, features: Tensor, action: Tensor) -> Tensor:
        """The output of every critic's hidden layers, [C, B, F'] (`Policy.hidden`)."""
        found = self.trunk(torch.cat([features, action], -1))
        return found[None] if self.is_single else found


def critic_prefixes(parameters: Parameters) -> tuple[str, ...]:
    """The submodules that the critics' loss trains.

    Only the critics train an encoder that heads share (images).
    """
    shared = any(name.startswith("shared.") for name in parameters.names)
    return ("shared", "qf") if shared else ("qf",)
