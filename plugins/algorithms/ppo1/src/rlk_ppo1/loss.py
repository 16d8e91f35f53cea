"""What PPO1 has besides the clipped objective of `rlk_on_policy.clipping`. Shapes: B transitions.

Schulman et al. 2017, arXiv 1707.06347, eq. 9, as in OpenAI's `ppo1` and Stable Baselines 2.10.
"""

from __future__ import annotations

import torch
from torch import Tensor


@torch.no_grad()
def approximate_kl(log_prob: Tensor, old_log_prob: Tensor) -> Tensor:
    """E[log pi_old - log pi], 0-dim: what actions of the old policy tell of KL(pi_old || pi)."""
    return (old_log_prob - log_prob).mean()
