"""PPO1's part of the loss that `rlk_on_policy.clipped_loss` has. Shapes: B transitions.

Schulman et al. 2017, arXiv 1707.06347, eq. 9, as in OpenAI's `ppo1` and Stable Baselines 2.10.
"""

from __future__ import annotations

import torch
from torch import Tensor


@torch.no_grad()
def approximate_kl(log_prob: Tensor, old_log_prob: Tensor) -> Tensor:
    """E[log pi_old - log pi], 0-dim: an estimate of KL(pi_old || pi) from the old actions."""
    return (old_log_prob - log_prob).mean()
