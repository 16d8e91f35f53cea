"""ACER's heads: `pi`, the distribution's parameters, and `qf`, the value of every action."""

from __future__ import annotations

from rlk_networks import Distribution, Heads, policy_head
from rlk_off_policy.heads import q_head


def acer_heads(distribution: Distribution, n_actions: int) -> Heads:
    """Both heads, in the form of an algorithm's `heads`.

    The layers of `qf` are those of the role `vf`: a policy's settings for the value apply to it.
    """
    return {
        "pi": lambda trunk: policy_head(trunk, distribution),
        "qf": lambda trunk: q_head(trunk, n_actions, role="vf"),
    }
