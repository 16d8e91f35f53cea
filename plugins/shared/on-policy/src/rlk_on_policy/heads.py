"""The heads of actor-critics: `pi`, the distribution's parameters, and `vf`, the value.

Shapes: B transitions, F features.
"""

from __future__ import annotations

from rlk_networks import Distribution, Head, Heads, Linear, Trunk, policy_head


def value_head(trunk: Trunk) -> Head:
    """Hidden layers and one linear output, [B, F] to float [B, 1]."""
    layers = trunk("vf")
    return Head(layers, Linear(layers.features, 1))


def actor_critic(distribution: Distribution) -> Heads:
    """Both heads, in the form of an algorithm's `heads`."""
    return {"pi": lambda trunk: policy_head(trunk, distribution), "vf": value_head}
