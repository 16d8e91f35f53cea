"""The policy classes of Stable-Baselines3's names: which policies are instances of them."""

from __future__ import annotations

from typing import Any

import pytest

from rlk_baselines.refusals import Refused
from rlk_sb3 import A2C, DDPG, DQN, PPO, SAC, TD3
from rlk_sb3.common.envs import IdentityEnvBox
from rlk_sb3.common.policies import ActorCriticPolicy, BasePolicy
from rlk_sb3.dqn.policies import DQNPolicy
from rlk_sb3.sac.policies import SACPolicy
from rlk_sb3.td3.policies import TD3Policy
from rlk_sb3_contrib import TRPO, MaskablePPO, RecurrentPPO
from rlk_sb3_contrib.common.envs import InvalidActionEnvDiscrete
from rlk_sb3_contrib.common.maskable.policies import MaskableActorCriticPolicy
from rlk_sb3_contrib.common.recurrent.policies import RecurrentActorCriticPolicy

CLASSES = (
    *(ActorCriticPolicy, DQNPolicy, SACPolicy, TD3Policy),
    *(MaskableActorCriticPolicy, RecurrentActorCriticPolicy),
)
SPACES = IdentityEnvBox().observation_space, IdentityEnvBox().action_space


@pytest.mark.parametrize(
    ("kind", "policy", "env", "expected"),
    [
        (A2C, "MlpPolicy", "CartPole-v1", {ActorCriticPolicy}),
        (PPO, "MlpPolicy", "CartPole-v1", {ActorCriticPolicy}),
        (PPO, ActorCriticPolicy, "CartPole-v1", {ActorCriticPolicy}),
        (TRPO, "MlpPolicy", "CartPole-v1", {ActorCriticPolicy}),
        (DQN, "MlpPolicy", "CartPole-v1", {DQNPolicy}),
        (DQN, DQNPolicy, "CartPole-v1", {DQNPolicy}),
        (SAC, SACPolicy, IdentityEnvBox(), {SACPolicy}),
        (TD3, TD3Policy, IdentityEnvBox(), {TD3Policy}),
        (DDPG, "MlpPolicy", IdentityEnvBox(), {TD3Policy}),
        (
            MaskablePPO,
            MaskableActorCriticPolicy,
            InvalidActionEnvDiscrete(dim=4),
            {ActorCriticPolicy, MaskableActorCriticPolicy},
        ),
        (
            RecurrentPPO,
            "MlpLstmPolicy",
            "CartPole-v1",
            {ActorCriticPolicy, RecurrentActorCriticPolicy},
        ),
    ],
)
def test_a_policy_is_an_instance_of_its_models_policy_class(
    kind: Any, policy: Any, env: Any, expected: set[Any]
) -> None:
    found = kind(policy, env).policy
    assert isinstance(found, BasePolicy)
    assert {one for one in CLASSES if isinstance(found, one)} == expected
    assert isinstance(found, next(iter(kind.policy_aliases.values())))


@pytest.mark.parametrize("kind", CLASSES)
def test_a_policy_class_that_is_called_says_where_policies_come_from(kind: Any) -> None:
    observation_space, action_space = SPACES
    for call in (
        lambda: kind(*SPACES, lambda _: 1e-3),
        lambda: kind(observation_space=observation_space, action_space=action_space),
    ):
        with pytest.raises(Refused, match=rf"{kind.__name__}\(.*PPO\('MlpPolicy', env\).policy"):
            call()


@pytest.mark.parametrize("kind", [*CLASSES, BasePolicy])
def test_a_policy_class_loads_no_file_and_says_what_does(kind: Any) -> None:
    hint = r"\.load: .* MODEL\.load\(path\)\.policy .*load_state_dict\(torch"
    with pytest.raises(Refused, match=kind.__name__ + hint):
        kind.load("policy")
