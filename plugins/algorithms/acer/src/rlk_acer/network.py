"""ACER's heads: `pi`, the distribution's parameters, and `qf`, the value of every action."""

from __future__ import annotations

from rlk_networks import Distribution, Heads, policy_head
from rlk_off_policy.q_heads import q_head


def acer_heads(distribution: Distribution, n_actions: int) -> Heads:
    """Both, as an algorithm's `heads` returns them.

    The layers of `qf` are those of the role `vf`: where a policy's settings give the value layers
    of its own, they are meant.
    """
    return {
        "pi": lambda trunk: policy_head(trunk, distribution),
        "qf": lambda trunk: q_head(trunk, n_actions, role="vf"),
    }
