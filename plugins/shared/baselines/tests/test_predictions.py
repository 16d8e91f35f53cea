"""Predictions of models: actions, probabilities, and the observations that they accept."""

from __future__ import annotations

import inspect
import pickle
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium import spaces
from small_models import small_ppo

import rlk_baselines
import rlk_sb3
from rlk_baselines import A2C, DDPG, PPO2, SAC
from rlk_baselines.common.base_class import BaseRLModel


@pytest.mark.parametrize("module", [rlk_baselines, rlk_sb3])
def test_the_signature_of_predict_shows_how_a_model_acts_by_default(module: Any) -> None:
    models = "A2C ACER ACKTR DDPG DQN GAIL HER PPO PPO1 PPO2 SAC TD3 TRPO"
    for name in {*models.split()} & {*module.__all__}:
        shown = inspect.signature(getattr(module, name).predict).parameters["deterministic"]
        is_off_policy = name in ("DDPG", "DQN", "HER", "SAC", "TD3")
        assert shown.default is (is_off_policy and module is rlk_baselines), name


@pytest.mark.parametrize("logp", [False, True])
def test_actions_whose_probability_is_asked_for_may_have_an_axis_of_one(logp: bool) -> None:
    model, observations = small_ppo(), np.linspace(-1, 1, 12).reshape(3, 4)
    expected = model.action_probability(observations, actions=np.array([0, 1, 1]), logp=logp)
    found = model.action_probability(observations, actions=[[0], [1], [1]], logp=logp)
    assert found.shape == (3, 1) and np.array_equal(found, expected)
    assert model.action_probability(observations[0], actions=[[0]], logp=logp) == expected[0]
    swinging = PPO2("MlpPolicy", "Pendulum-v1", n_steps=16, nminibatches=1)
    observations, actions = observations[:, :3], np.array([0.1, 0.2, 0.3])
    found = swinging.action_probability(observations, actions=actions, logp=logp)
    assert np.array_equal(
        found, swinging.action_probability(observations, actions=actions[:, None], logp=logp)
    )
    with pytest.raises(ValueError, match="actions for a batch of 3 have the shape"):
        model.action_probability(np.zeros((3, 4)), actions=[0, 1])


def test_a_deterministic_policy_has_no_probabilities() -> None:
    model = DDPG("MlpPolicy", "Pendulum-v1")
    with pytest.warns(UserWarning, match="without probabilities"):
        assert model.action_probability(np.zeros(3)) is None
    assert A2C("MlpPolicy", "CartPole-v1").action_probability(np.zeros(4)).sum() == pytest.approx(1)


def test_an_observation_with_its_info_is_refused() -> None:
    model = A2C("MlpPolicy", "CartPole-v1")
    with pytest.raises(ValueError, match="pass the observation alone"):
        model.predict(gymnasium.make("CartPole-v1").reset())


def test_an_observation_may_be_a_tuple_of_two_but_not_one_with_its_infos(counting) -> None:
    class Pair(counting):
        def __init__(self):
            super().__init__()
            self.observation_space = spaces.Tuple([spaces.Discrete(3), self.observation_space])

        def reset(self):
            return 0, super().reset()

        def step(self, action):
            observation, *others = super().step(action)
            return (0, observation), *others

    model = A2C("MultiInputPolicy", Pair(), n_cpu_tf_sess=1)
    assert model.predict(Pair().reset())[0] in (0, 1)
    with pytest.raises(ValueError, match="pass the observation alone"):
        model.predict((Pair().reset(), {}))


@pytest.mark.parametrize(("kind", "is_mode"), [(SAC, True), (A2C, False)])
def test_the_mode_is_the_default_of_off_policy_models_alone(kind: Any, is_mode: bool) -> None:
    model = kind("MlpPolicy", "Pendulum-v1", seed=0)
    states = np.zeros((50, 3), np.float32)
    modes, _ = model.predict(states, deterministic=True)
    assert np.array_equal(model.predict(states)[0], modes) is is_mode
    assert not np.array_equal(model.predict(states, deterministic=False)[0], modes)


class Remembering(BaseRLModel):
    """Remembers that it was asked to act."""

    is_asked = False

    def predict(self, *args: Any, **kwargs: Any) -> Any:
        self.is_asked = True
        return super().predict(*args, **kwargs)


class Below(PPO2, Remembering):
    """Its `predict` is that of the class between PPO2 and the base of all models."""


def test_a_class_between_a_model_and_its_base_is_asked_too() -> None:
    model = Below("MlpPolicy", "CartPole-v1", n_steps=8, nminibatches=1)
    model.predict(np.zeros(4))
    assert model.is_asked


def test_a_replaced_method_of_the_base_is_that_of_every_model(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(BaseRLModel, "predict", lambda self, seen: ("replaced", seen))
    model: Any = small_ppo()
    assert model.predict(7) == ("replaced", 7)


def test_methods_of_a_class_are_found_by_their_names() -> None:
    for method in (PPO2.predict, PPO2.learn):
        assert pickle.loads(pickle.dumps(method)) is method
