"""What the checks of a policy share: observation spaces, and a policy with two heads."""

from __future__ import annotations

from typing import Any, ClassVar

import gymnasium as gym
from torch import nn

from rlk.running.seeding import Streams
from rlk_networks.architecture import Architecture
from rlk_networks.layers import Head, Linear
from rlk_networks.policy import Policy
from rlk_testing.contracts.policy.observations import OBSERVATION_SPACES
from rlk_testing.contracts.shared.contract import Contract
from rlk_testing.tools.torch_threads import one_thread

#: The heads of the policy, and how many numbers each gives.
SIZE = {"pi": 4, "vf": 1}


class PolicySuite(Contract):
    """Makes the policy; `PolicyContract` describes the class attributes."""

    kind = "policies"
    observation_spaces: ClassVar[tuple[gym.Space[Any], ...]] = ()
    exports: ClassVar[bool] = True

    def tried(self) -> list[gym.Space[Any]]:
        """The observation spaces of these checks."""
        declared = self.record().observation_spaces or ("Box",)
        return list(self.observation_spaces) or [
            OBSERVATION_SPACES[name] for name in declared if name in OBSERVATION_SPACES
        ]

    def policy(self, space: gym.Space[Any], seed: int = 0, **changes: Any) -> Policy:
        """A policy with two heads, initialised as a run initialises it."""
        config = self.config(**changes)
        factory = self.record().load()

        def head(role: str) -> Any:
            def build(trunk: Any) -> nn.Module:
                layers = trunk(role)
                return Head(layers, Linear(layers.features, SIZE[role]))

            return build

        with one_thread(), Streams(seed).globally("init"):
            architecture: Architecture = factory() if config is None else factory(config)
            return architecture.build(space, {role: head(role) for role in SIZE})
