"""Policy classes in HER: as in Stable Baselines, they are given flat observations, rows [D].

Shapes: B observations, D numbers in observation, achieved goal and desired goal, F features.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor, nn

from rlk.errors import PlanError
from rlk_baselines.her.flat_goals import KEYS, FlatGoals
from rlk_baselines.policies.chosen import Deferred
from rlk_baselines.policies.classes import BasePolicy
from rlk_networks import Architecture, HiddenLayers


class DeferredOnRows(Deferred):
    """Makes a policy from a class for rows; the policy takes the Dict observations."""

    def made(self, observation_space: Any) -> BasePolicy:
        return super().made(row_space(observation_space))

    def architecture(self, made: BasePolicy) -> Architecture:
        return OnRows(made)


class OnRows(Architecture):
    """The networks of a policy for rows, after a layer that flattens observations to rows.

    Args:
        policy: the policy for rows.
    """

    def __init__(self, policy: Architecture) -> None:
        self._policy = policy
        self.uniform_init = policy.uniform_init

    def encoder(self, observation_space: Any) -> nn.Module:
        return Rows(self._policy.encoder(row_space(observation_space)))

    def trunk(self, role: str, features: int, *, extra: int = 0, n_copies: int = 1) -> HiddenLayers:
        return self._policy.trunk(role, features, extra=extra, n_copies=n_copies)

    def named_roles(self) -> tuple[str, ...]:
        return self._policy.named_roles()


class Rows(nn.Module):
    """Flattens preprocessed Dict observations to rows [B, D], and encodes them: features [B, F].

    Args:
        encoder: a module from preprocessed rows [B, D] to features [B, F].
    """

    def __init__(self, encoder: nn.Module) -> None:
        super().__init__()
        self.encoder = encoder
        self.features = encoder.features

    def forward(self, observation: Mapping[str, Tensor]) -> Tensor:
        row = torch.cat([observation[key].flatten(1) for key in KEYS], dim=1)
        return self.encoder(row)


def row_space(observation_space: Any) -> Any:
    """The space of rows; PlanError if observations cannot be flattened."""
    try:
        return FlatGoals(observation_space).space
    except ValueError as error:
        raise PlanError(f"policy classes of HER take rows: {error}.") from error
