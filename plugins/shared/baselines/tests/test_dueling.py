"""The policy decides whether DQN is dueling: by `policy_kwargs`, or in a custom policy class."""

from __future__ import annotations

from typing import Any

import pytest

from rlk_baselines import DQN, HER, PPO2
from rlk_baselines.common.bit_flipping_env import BitFlippingEnv
from rlk_baselines.common.policies import FeedForwardPolicy as ActorCritic
from rlk_baselines.deepq.policies import FeedForwardPolicy


class Plain(FeedForwardPolicy):
    def __init__(self, *args: Any, **kwargs: Any) -> None:
        given = {"layers": [16], "feature_extraction": "mlp", "dueling": False, **kwargs}
        super().__init__(*args, **given)


def is_dueling(model: Any) -> bool:
    return hasattr(model.agent.run.policy.qf, "advantage")


def test_a_class_says_whether_its_network_is_dueling(tmp_path: Any) -> None:
    model = DQN(Plain, "CartPole-v1", seed=0)
    assert not is_dueling(model)
    model.save(tmp_path / "model")
    assert not is_dueling(DQN.load(tmp_path / "model", policy=Plain))
    assert is_dueling(DQN(Plain, "CartPole-v1", policy_kwargs={"dueling": True}))


@pytest.mark.parametrize("dueling", [True, False])
def test_keywords_say_it_of_names_and_of_classes(dueling: bool) -> None:
    kwargs = {"dueling": dueling}
    for policy in ("MlpPolicy", Plain):
        assert is_dueling(DQN(policy, "CartPole-v1", policy_kwargs=kwargs)) == dueling
        env = BitFlippingEnv(4, max_steps=4)
        assert is_dueling(HER(policy, env, DQN, policy_kwargs=kwargs)) == dueling


def test_an_actor_is_not_dueling() -> None:
    class Wrong(ActorCritic):
        def __init__(self, *args: Any, **kwargs: Any) -> None:
            super().__init__(*args, **kwargs, feature_extraction="mlp", dueling=True)

    with pytest.raises(ValueError, match="'Wrong': dueling=True is for the Q values of DQN"):
        PPO2(Wrong, "CartPole-v1")
