"""The head `pi` of stochastic policies, which every family of algorithms has.

Shapes: B transitions, F features, P a distribution's flat parameters.
"""

from __future__ import annotations

from rlk_networks.architecture import Trunk
from rlk_networks.distribution import Distribution
from rlk_networks.layers import Head


def policy_head(trunk: Trunk, distribution: Distribution) -> Head:
    """Hidden layers and the distribution's own head, [B, F] to float [B, P]."""
    layers = trunk("pi")
    return Head(layers, distribution.head(layers.features))
