"""A program's own action noise is called, and reset where episodes end."""

from __future__ import annotations

import warnings
from types import SimpleNamespace

import numpy as np
import pytest
from gymnasium import spaces

import rlk
import rlk_sb3
from rlk.errors import EnvironmentFailed, PlanError
from rlk.records import Act
from rlk.running.seeding import Streams
from rlk_baselines import DDPG, HER, SAC, TD3
from rlk_baselines.common import make_vec_env
from rlk_baselines.common.bit_flipping_env import BitFlippingEnv
from rlk_baselines.common.noise import (
    ActionNoise,
    NormalActionNoise,
    OrnsteinUhlenbeckActionNoise,
)
from rlk_baselines.common.own_noise import OwnNoise

OFF = {"learning_starts": 0, "batch_size": 8}


class Own(ActionNoise):
    """Counts its calls and resets."""

    def __init__(self, value: object = 1.0) -> None:
        self.value, self.calls, self.resets = value, 0, 0

    def __call__(self):
        self.calls += 1
        return np.asarray(self.value)

    def reset(self) -> None:
        self.resets += 1


class OwnNormal(NormalActionNoise):
    def __call__(self):
        return np.full(1, 9.0)  # clipped to 1, the highest action


class OwnProcess(OrnsteinUhlenbeckActionNoise):
    def __call__(self):
        return np.full(1, 9.0)


@pytest.mark.parametrize("kind", [SAC, TD3, rlk_sb3.SAC, rlk_sb3.TD3, rlk_sb3.DDPG])
def test_an_own_noise_is_called_at_every_step_and_reset_where_an_episode_starts(kind) -> None:
    noise = Own()
    seldom = {"train_freq": 10, "gradient_steps": 1}
    model = kind("MlpPolicy", "Pendulum-v1", action_noise=noise, **OFF, **seldom)
    model.learn(210)
    assert model.action_noise is noise
    assert (noise.calls, noise.resets) == (model.num_timesteps, 2)


def test_it_is_called_for_random_actions_too() -> None:
    noise = Own()
    TD3("MlpPolicy", "Pendulum-v1", action_noise=noise, learning_starts=10**6).learn(210)
    assert (noise.calls, noise.resets) == (300, 2)


@pytest.mark.parametrize("noise", [OwnNormal(0.0, 0.1), OwnProcess(0.0, 0.1)])
def test_a_class_derived_from_one_of_rlk_behaves_like_it(noise) -> None:
    model = DDPG("MlpPolicy", "Pendulum-v1", action_noise=noise, nb_rollout_steps=20, seed=0)
    model.learn(20)
    _, actions, *_ = model.replay_buffer.sample(10)
    assert (actions == 1.0).all()


def test_every_environment_has_a_copy_that_is_reset_by_itself() -> None:
    noise = Own()
    vector = make_vec_env("Pendulum-v1", 2)
    model = rlk_sb3.TD3("MlpPolicy", vector, action_noise=noise, gradient_steps=1, **OFF)
    model.learn(20)
    made = model.agent.run.actor._noise.of_each
    assert [(one.calls, one.resets) for one in made] == [(10, 1), (10, 1)]
    model.agent.run.actor._noise.reset(np.array([False, True]))
    assert [one.resets for one in made] == [1, 2]
    assert noise.calls == 0


class Clipped(NormalActionNoise):
    def __call__(self):
        return np.clip(super().__call__(), -0.5, 0.5)


class Halved(ActionNoise):
    """Holds a noise of rlk."""

    def __init__(self, held: OrnsteinUhlenbeckActionNoise) -> None:
        self.held = held

    def __call__(self):
        return 0.5 * self.held()


@pytest.mark.parametrize("n_envs", [1, 3])
@pytest.mark.parametrize(
    "noise",
    [lambda: Clipped(0.0, 0.1), lambda: Halved(OrnsteinUhlenbeckActionNoise(0.0, 0.1))],
)
def test_a_noise_that_draws_as_rlks_does_so_from_the_run(noise, n_envs) -> None:
    def drawn(seed: int) -> list[float]:
        vector = make_vec_env("Pendulum-v1", n_envs)
        model = rlk_sb3.TD3("MlpPolicy", vector, action_noise=noise(), seed=seed, **OFF)
        return model.agent.run.actor._noise.sample().ravel().tolist()

    assert drawn(1) == drawn(1) != drawn(2)
    assert len(set(drawn(1))) == n_envs, "environments have the same noise"


@pytest.mark.parametrize(
    "noise",
    [lambda: Clipped(0.0, 0.1), lambda: Halved(OrnsteinUhlenbeckActionNoise(0.0, 0.1))],
)
def test_models_that_share_a_noise_draw_each_from_its_own_run(noise) -> None:
    def model_with(action_noise, seed: int):
        return rlk_sb3.TD3("MlpPolicy", "Pendulum-v1", action_noise=action_noise, seed=seed, **OFF)

    def drawn(model) -> float:
        return model.agent.run.actor._noise.sample().item()

    alone, shared = drawn(model_with(noise(), seed=1)), noise()
    first = model_with(shared, seed=1)
    model_with(shared, seed=2)
    assert drawn(first) == alone


def test_the_programs_own_calls_draw_from_the_generator_of_its_noise() -> None:
    noise = Clipped(0.0, 0.1, rng=np.random.default_rng(3))
    model = rlk_sb3.TD3("MlpPolicy", "Pendulum-v1", action_noise=noise, **OFF)
    model.learn(10)
    assert noise() == np.clip(np.random.default_rng(3).normal(0.0, 0.1), -0.5, 0.5)


def test_noise_of_predictions_does_not_change_that_of_training() -> None:
    def drawn(predicts: bool) -> list[float]:
        noise = Clipped(0.0, 0.1)
        model = TD3("MlpPolicy", "Pendulum-v1", action_noise=noise, seed=1, **OFF)
        found = []
        if predicts:
            found = model.predict(np.zeros(3), deterministic=False)[0].tolist()
        return [*found, model.agent.run.actor._noise.sample().item()]

    assert drawn(predicts=True) == drawn(predicts=True)
    assert drawn(predicts=True)[-1:] == drawn(predicts=False)


def test_a_noise_of_another_size_is_refused() -> None:
    model = TD3("MlpPolicy", "Pendulum-v1", action_noise=Own(np.zeros(3)), **OFF)
    with pytest.raises(EnvironmentFailed, match="Own gave 3 numbers, and an action has 1"):
        model.learn(10)


def test_it_takes_the_place_of_a_noise_of_rlk_and_the_other_way_round() -> None:
    model = TD3("MlpPolicy", "Pendulum-v1", action_noise=NormalActionNoise(0.0, 0.5))
    for noise, expected in (
        (Own(), ["own-action-noise"]),
        (NormalActionNoise(0.0, 0.25), ["normal-noise"]),
        (Own(), ["own-action-noise"]),
        (None, []),
    ):
        model.action_noise = noise
        assert [one.name for one in model.agent.plan.noises] == expected


class Acts:
    """An inner actor; its state is the number of calls."""

    def start(self, n_envs: int) -> int:
        return 0

    def metrics(self) -> dict[str, float]:
        return {}

    def act(self, observation, carry, episode_start, deterministic=False) -> Act:
        action = np.array([[0.25, -0.75]] * len(observation), np.float32)
        return Act(action, 10 * action, carry + 1, {"value": 3.0})


def test_the_sum_is_clipped_scaled_and_left_out_of_deterministic_actions() -> None:
    high = np.array([2.0, 4.0], np.float32)
    run = SimpleNamespace(n_envs=1, action_space=spaces.Box(-high, high), streams=Streams(0))
    noise = Own([0.5, -0.5])
    actor = OwnNoise(run, noise).wrap(Acts(), None)
    start, carry = np.ones(1, bool), actor.start(1)
    quiet = actor.act(np.zeros((1, 3)), carry, start, deterministic=True)
    assert quiet.action.tolist() == [[0.25, -0.75]] and quiet.env_action.tolist() == [[2.5, -7.5]]
    assert (noise.calls, noise.resets) == (0, 0)
    loud = actor.act(np.zeros((1, 3)), quiet.carry, start)
    assert loud.action.tolist() == [[0.75, -1.0]], "-1.25 is clipped"
    assert loud.env_action.tolist() == [[1.5, -4.0]] and loud.extras == {"value": 3.0}
    assert loud.carry == {"inner": 2} and (noise.calls, noise.resets) == (1, 1)


@pytest.mark.parametrize(("sample", "expected"), [(7.0, [7, 7, 7]), ([1, 2, 3], [1, 2, 3])])
def test_a_sample_has_one_number_or_one_for_each_dimension(sample, expected) -> None:
    box = spaces.Box(-1.0, 1.0, (3,))
    run = SimpleNamespace(n_envs=2, action_space=box, streams=Streams(0))
    assert OwnNoise(run, Own(sample)).sample().tolist() == [expected] * 2
    with pytest.raises(EnvironmentFailed, match="gave 2 numbers, and an action has 3"):
        OwnNoise(run, Own([1.0, 2.0])).sample()


def test_a_model_acts_without_it_and_warns_where_it_learns_without_it(tmp_path) -> None:
    noise = Own()
    model = TD3("MlpPolicy", "Pendulum-v1", action_noise=noise, **OFF)
    model.save(tmp_path / "model")
    observation = np.zeros(3, np.float32)
    loaded = TD3.load(tmp_path / "model")
    assert loaded.predict(observation)[0] == model.predict(observation)[0]
    loaded.save(tmp_path / "model")  # without the noise
    loaded = TD3.load(tmp_path / "model", env="Pendulum-v1")
    with pytest.warns(UserWarning, match="action_noise was a noise of a program's own class"):
        loaded.learn(10)
    assert noise.calls == 0
    loaded.action_noise = noise
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        loaded.learn(10)
    assert noise.calls > 0
    noise.calls = 0
    TD3.load(tmp_path / "model", env="Pendulum-v1", action_noise=noise).learn(10)
    assert noise.calls > 0


def test_a_model_of_hindsight_is_loaded_without_it_too(tmp_path) -> None:
    env, noise = BitFlippingEnv(3, continuous=True, max_steps=3), Own(0.5)
    HER("MlpPolicy", env, TD3, action_noise=noise, **OFF).save(tmp_path / "model")
    with pytest.warns(UserWarning, match="action_noise was a noise of a program's own class"):
        HER.load(tmp_path / "model", env=env).learn(10)
    HER.load(tmp_path / "model", env=env, action_noise=noise).learn(10)
    assert noise.calls > 0


@pytest.mark.parametrize("noise", [OwnNormal(0.0, 0.1), OwnProcess(0.0, 0.1)])
def test_rlk_itself_refuses_what_it_would_not_call(noise) -> None:
    with pytest.raises(PlanError, match=f"{type(noise).__name__} is derived from"):
        rlk.make("td3", env="Pendulum-v1", action_noise=noise)


class Falling(NormalActionNoise):
    def __call__(self):
        self.sigma = 0.0 * self.sigma
        return super().__call__()


def test_noise_changes_by_another_object_or_in_a_derived_class() -> None:
    """As the errors of settings that cannot be set say."""
    model = rlk_sb3.TD3("MlpPolicy", "Pendulum-v1", action_noise=NormalActionNoise(0.0, 0.1), **OFF)
    model.learn(2)
    model.action_noise = NormalActionNoise(1.0, 0.0)
    model.learn(2)
    assert model.agent.plan.noises[0].config.mean == 1.0
    noise = Falling(0.0, 0.1)
    rlk_sb3.TD3("MlpPolicy", "Pendulum-v1", action_noise=noise, **OFF).learn(2)
    assert noise.sigma == 0.0
