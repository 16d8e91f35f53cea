"""SAC's entropy coefficient as a module of its own: it is learnt beside the policy."""

from __future__ import annotations

import math

import torch
from torch import nn


class EntropyCoefficient(nn.Module):
    """alpha, kept as its logarithm."""

    def __init__(self, initial: float) -> None:
        super().__init__()
        self.log_ent_coef = nn.Parameter(torch.tensor(math.log(initial)))
