"""Gamma variates as a function of their shape and of noise: Marsaglia and Tsang 2000.

(A simple method for generating gamma variables, doi:10.1145/358407.358414, section 3.) A candidate
is d (1 + c x)^3 with x standard normal, d = shape - 1/3 and c = 1 / sqrt(9 d); it is accepted if

    log u < x^2 / 2 + d - d v + d log v,    v = (1 + c x)^3,  u uniform.

For a shape of 1 and more, at least 95 % of candidates are accepted. So a few are drawn beforehand,
and the first accepted one is the variate.
"""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from rlk.records import Array

#: Candidates for each variate. All are refused with a probability below 0.049^8 = 3e-11, far below
#: the resolution of a uniform float32; then the first one is taken.
CANDIDATES = 8


def gamma_noise(rng: np.random.Generator, batch: int, size: int) -> Array:
    """Float32 [batch, 2, CANDIDATES, size]: standard normal x, and -log u, exponential."""
    noise = np.empty((batch, 2, CANDIDATES, size), np.float32)
    noise[:, 0] = rng.standard_normal((batch, CANDIDATES, size), dtype=np.float32)
    noise[:, 1] = rng.standard_exponential((batch, CANDIDATES, size), dtype=np.float32)
    return noise


@torch.no_grad()
def gamma(shape: Tensor, noise: Tensor) -> Tensor:
    """Variates of the standard gamma distribution, float [..., S], without a gradient.

    Args:
        shape: float [..., S], at least 1.
        noise: float [..., 2, CANDIDATES, S], of `gamma_noise`.
    """
    x, minus_log_u = noise.unbind(-3)
    d = shape.unsqueeze(-2) - 1.0 / 3.0
    v = (1.0 + x / (9.0 * d).sqrt()) ** 3
    # The logarithm of a negative number is NaN, for which every comparison is false.
    accepted = -minus_log_u < 0.5 * x.square() + d * (1.0 - v + v.log())
    # Of several largest values, `argmax` gives the first.
    first = accepted.to(torch.uint8).argmax(-2, keepdim=True)
    return (d * v).gather(-2, first).squeeze(-2).clamp(min=torch.finfo(v.dtype).tiny)
