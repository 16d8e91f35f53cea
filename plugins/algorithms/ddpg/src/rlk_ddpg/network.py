"""The heads of DDPG: the policy `pi` and the critic `qf`; Lillicrap et al. 2016, section 7."""

from __future__ import annotations

from typing import Any

from torch import nn

from rlk_networks import Trunk
from rlk_off_policy.critics import Critic
from rlk_off_policy.policy_heads import DeterministicHead

#: Output layers begin uniformly between minus and plus this, so that first actions and values are
#: near 0.
SMALL = 3e-3


def policy_head(trunk: Trunk, action_size: int) -> nn.Module:
    """[B, F] to actions in -1 to 1, float [B, D]."""
    return _with_small_output(DeterministicHead(trunk, action_size))


def critic_head(trunk: Trunk, action_size: int) -> nn.Module:
    """[B, F] and actions [B, D] to values, float [B]."""
    return _with_small_output(Critic(trunk, action_size))


def _with_small_output(head: Any) -> nn.Module:
    for parameter in (head.out.weight, head.out.bias):
        nn.init.uniform_(parameter.detach(), -SMALL, SMALL)
    made: nn.Module = head
    return made
