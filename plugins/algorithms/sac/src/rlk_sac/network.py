"""SAC's entropy coefficient as a separate module, learnt beside the policy."""

from __future__ import annotations

import math

import torch
from torch import nn


class EntropyCoefficient(nn.Module):
    """The coefficient alpha, stored as its logarithm."""

    def __init__(self, initial: float) -> None:
        super().__init__()
        self.log_ent_coef = nn.Parameter(torch.tensor(math.log(initial)))
