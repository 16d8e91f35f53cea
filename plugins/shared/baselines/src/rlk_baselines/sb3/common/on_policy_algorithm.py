"""The base class of Stable-Baselines3's on-policy models."""

from __future__ import annotations

from rlk_baselines.sb3.algorithm import BaseAlgorithm
from rlk_baselines.sb3.policy_view import ActorCriticView


class OnPolicyAlgorithm(BaseAlgorithm):
    """The base class of on-policy models."""

    viewed = ActorCriticView

    def numbers_of_training(self) -> dict[str, float]:
        """For a Gaussian policy, its mean standard deviation, `train/std`."""
        named = self.agent.run.policy.named_parameters()
        log_std = next((value for name, value in named if name.endswith(".log_std")), None)
        return {} if log_std is None else {"train/std": float(log_std.detach().exp().mean())}
