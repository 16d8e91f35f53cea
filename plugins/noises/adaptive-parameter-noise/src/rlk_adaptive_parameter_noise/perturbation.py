"""Noise on the parameters of a copy of the policy. P parameters."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor, nn

from rlk.protocols import Parameters

_NORMS = (nn.LayerNorm,)
_CONVOLUTIONS = (nn.Conv1d, nn.Conv2d, nn.Conv3d)


class Perturbation:
    """Draws parameters theta~ = theta + sigma N(0, 1), except those of layer norm.

    Args:
        parameters: of the policy, theta; every draw uses their current values.
        rng: the generator of the noise.
        convolutions: whether convolutions are perturbed too.
    """

    def __init__(
        self, parameters: Parameters, rng: np.random.Generator, convolutions: bool
    ) -> None:
        self._parameters, self._rng = parameters.flat, rng
        self._mask = perturbed(parameters, convolutions)

    def draw(self, stddev: float) -> Tensor:
        """theta~, float [P].

        Args:
            stddev: sigma, above 0.
        """
        noise = self._rng.standard_normal(len(self._mask), dtype=np.float32)
        noise_there = torch.from_numpy(noise).to(self._parameters)
        return torch.addcmul(self._parameters, noise_there, self._mask, value=stddev)


def perturbed(parameters: Parameters, convolutions: bool) -> Tensor:
    """1 for every parameter that is perturbed and 0 for the others, float [P]."""
    fixed = _NORMS if convolutions else (*_NORMS, *_CONVOLUTIONS)
    modules = [one for one in parameters.module.modules() if isinstance(one, fixed)]
    left_out = {id(p) for module in modules for p in module.parameters(recurse=False)}
    named = dict(parameters.module.named_parameters())
    own = [named[name] for name in parameters.names]
    mask = [torch.full((p.numel(),), float(id(p) not in left_out)) for p in own]
    return torch.cat(mask).to(parameters.flat)
