"""ACER's heads: `pi`, the distribution's parameters, and `qf`, the value of every action."""

from __future__ import annotations

from typing import Any

from rlk_networks import Distribution, Head, Heads, Linear, Trunk, policy_head


def q_head(trunk: Trunk, n_actions: int) -> Head:
    """Hidden layers and one output per action, [B, F] to float [B, A].

    The layers are those of the role `vf`: where a policy's settings give the value layers of its
    own, they are meant.
    """
    layers: Any = trunk("vf")
    return Head(layers, Linear(layers.features, n_actions))


def acer_heads(distribution: Distribution, n_actions: int) -> Heads:
    """Both, as an algorithm's `heads` returns them."""
    return {
        "pi": lambda trunk: policy_head(trunk, distribution),
        "qf": lambda trunk: q_head(trunk, n_actions),
    }
