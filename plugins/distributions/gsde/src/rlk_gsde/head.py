"""The head of gSDE: the mean, and the contribution of each feature to the noise."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from rlk_gsde.config import GSDEConfig
from rlk_networks import Linear


def expln(x: Tensor) -> Tensor:
    """exp(x) up to 0, and log(x + 1) + 1 above: positive, smooth, and slow to grow, float [...].

    Raffin et al. 2020, arXiv 2005.05719, after Ruckstiess et al. 2008.
    """
    # Each branch gets only inputs for which it is finite: the gradient of `where` multiplies by 0.
    return torch.where(x > 0, torch.log1p(x.clamp(min=0.0)) + 1.0, x.clamp(max=0.0).exp())


class NoiseHead(nn.Module):
    """[B, F] to [B, D + F * D]: a linear mean, and the features times the deviations of weights.

    The mean may be clipped.

    The features are the inputs of the linear mean. The product is flat, feature by feature:
    x_1 sigma_11, x_1 sigma_12, …
    """

    def __init__(self, features: int, size: int, config: GSDEConfig) -> None:
        super().__init__()
        self.mean = Linear(features, size, gain=0.01)
        shape = (features, size if config.full_std else 1)
        self.log_std = nn.Parameter(torch.full(shape, float(config.log_std_init)))
        self.size, self.use_expln = size, config.use_expln
        self.learn_features, self.clip_mean = config.learn_features, config.clip_mean

    def deviations(self) -> Tensor:
        """sigma, the standard deviations of the weights of the noise, float [F, D]."""
        found = expln(self.log_std) if self.use_expln else self.log_std.exp()
        return found.expand(-1, self.size)

    def forward(self, features: Tensor) -> Tensor:
        exploring = features if self.learn_features else features.detach()
        scaled = exploring.unsqueeze(-1) * self.deviations()
        mean: Tensor = self.mean(features)
        if self.clip_mean is not None:
            mean = mean.clamp(-self.clip_mean, self.clip_mean)
        return torch.cat([mean, scaled.flatten(1)], -1)
