"""Policy classes of programs for Stable-Baselines3."""

from __future__ import annotations

from typing import Any, ClassVar

import pytest
from torch import nn

from rlk_sb3 import PPO, SAC
from rlk_sb3.common.policies import ActorCriticPolicy
from rlk_sb3.ppo import MlpPolicy
from rlk_sb3.sac.policies import SACPolicy


class Built(ActorCriticPolicy):
    """As the documentation of Stable-Baselines3 writes it."""

    def __init__(self, observation_space: Any, action_space: Any, lr_schedule: Any, **kwargs: Any):
        kwargs["ortho_init"] = False
        super().__init__(observation_space, action_space, lr_schedule, **kwargs)

    def _build_mlp_extractor(self) -> None:
        raise AssertionError("nothing calls this")


class Narrow(SACPolicy):
    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, net_arch=[16], **kwargs)


class Ours(ActorCriticPolicy):
    """As docs/custom-policies.md writes it."""

    def encoder(self, observation_space: Any) -> nn.Module:
        made: Any = nn.Sequential(nn.Linear(4, 6), nn.ReLU())
        made.features = 6
        return made

    def trunk(self, role: str, features: int, *, extra: int = 0, n_copies: int = 1) -> nn.Module:
        made: Any = nn.Identity()
        made.features = features
        return made


def test_a_derived_class_of_a_model_may_have_policies_by_names_of_its_own() -> None:
    class Own(PPO):
        policy_aliases: ClassVar[dict[str, Any]] = {**PPO.policy_aliases, "OwnPolicy": Ours}

    assert Own("OwnPolicy", "CartPole-v1").policy_class is Ours
    assert Own("MlpPolicy", "CartPole-v1").policy_class is MlpPolicy
    with pytest.raises(ValueError, match="OwnPolicy"):
        PPO("OwnPolicy", "CartPole-v1")


def test_a_class_that_builds_its_parts_is_refused() -> None:
    with pytest.raises(ValueError, match=r"'Built' has _build_mlp_extractor, .*policy_kwargs=dict"):
        PPO(Built, "CartPole-v1")


def test_a_class_that_passes_on_a_list_in_net_arch_is_refused() -> None:
    """Its layers would be shared by actor and critics, as those of Stable Baselines 2.10."""
    with pytest.raises(ValueError, match=r"'Narrow' has a constructor, .*net_arch=…"):
        SAC(Narrow, "Pendulum-v1")


def test_other_classes_are_taken() -> None:
    same: Any = type("Same", (MlpPolicy,), {})
    kwargs = {"net_arch": {"pi": [8], "vf": [9]}}
    shapes = [
        one.shape for one in PPO(same, "CartPole-v1", policy_kwargs=kwargs).policy.parameters()
    ]
    assert {(4, 8), (4, 9)} <= {tuple(shape) for shape in shapes}
    model = PPO(Ours, "CartPole-v1", n_steps=64)
    assert model.learn(64).num_timesteps == 64
