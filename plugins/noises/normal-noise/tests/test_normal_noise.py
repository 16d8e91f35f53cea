from __future__ import annotations

from types import SimpleNamespace

import attrs
import gymnasium as gym
import numpy as np
import pytest

import rlk
from rlk.errors import PlanError
from rlk.planning.parse import parse_plugin
from rlk.planning.resolve import resolve
from rlk.planning.spec import make_spec
from rlk.records import Act
from rlk.registry.kernel import Kernel
from rlk.running.seeding import Streams
from rlk_normal_noise import NormalActionNoise
from rlk_normal_noise.config import NormalNoiseConfig
from rlk_normal_noise.noise import NormalNoise
from rlk_testing import NoiseContract

LOW, HIGH = np.array([-1.0, 0.0], np.float32), np.array([2.0, 0.5], np.float32)
BOX = gym.spaces.Box(LOW, HIGH)


class TestNormalNoise(NoiseContract):
    component = "normal-noise"


class TestNormalNoiseOfOneDimension(NoiseContract):
    component = "normal-noise"
    settings = {"mean": [0.5, 0.0], "sigma": [0.0, 0.3]}
    action_spaces = (gym.spaces.Box(-2.0, 1.0, (2,), np.float32),)


class Chooses:
    """Always the same action, in -1 to 1."""

    def __init__(self, *action):
        self.action = np.array(action, np.float32)

    def start(self, n_envs):
        return None

    def metrics(self):
        return {"inner": 1.0}

    def act(self, observation, carry, episode_start, deterministic=False):
        action = np.repeat(self.action[None], len(episode_start), 0)
        return Act(action, action * 100, carry, {"extra": action})


def wrapped(*action, seed=0, space=BOX, **settings):
    run = SimpleNamespace(action_space=space, streams=Streams(seed))
    return NormalNoise(run, NormalNoiseConfig(**settings)).wrap(Chooses(*action), None)


def act(actor, n_envs=20_000, deterministic=False):
    return actor.act(np.zeros((n_envs, 1)), None, np.zeros(n_envs, bool), deterministic)


def test_the_noise_has_its_mean_and_standard_deviation():
    found = act(wrapped(0.0, 0.0, mean=0.1, sigma=0.2)).action
    # 20,000 samples: five standard errors of the mean are 0.007, of the deviation 0.005.
    assert np.abs(found.mean(0) - 0.1).max() < 0.007
    assert np.abs(found.std(0) - 0.2).max() < 0.005


def test_every_dimension_may_have_settings_of_its_own():
    found = act(wrapped(0.0, 0.0, mean=[0.3, 0.0], sigma=[0.0, 0.1])).action
    assert np.array_equal(found[:, 0], np.full(20_000, 0.3, np.float32))
    assert abs(found[:, 1].std() - 0.1) < 0.003


def test_environments_and_dimensions_are_independent():
    found = act(wrapped(0.0, 0.0)).action
    assert abs(np.corrcoef(found.T)[0, 1]) < 0.04 and len(np.unique(found)) > 39_000


def test_what_is_stored_is_clipped_to_one_and_the_environment_gets_it_in_its_bounds():
    found = act(wrapped(0.9, -0.9, sigma=1.0), 200)
    assert found.action.min() == -1.0 and found.action.max() == 1.0
    assert np.allclose(found.env_action, LOW + (found.action + 1) / 2 * (HIGH - LOW), atol=1e-6)
    assert all(BOX.contains(one) for one in found.env_action)


def test_noise_of_no_spread_shifts_by_its_mean():
    found = act(wrapped(0.2, -0.9, mean=[0.1, -0.5], sigma=0.0), 1)
    assert found.action.tolist() == [[pytest.approx(0.3), -1.0]]


def test_actions_of_several_axes_are_flat_until_the_environment_gets_them():
    space = gym.spaces.Box(-1.0, 1.0, (2, 1), np.float32)
    found = act(wrapped(0.5, 0.0, space=space, mean=[0.0, 0.1], sigma=0.0), 3)
    assert found.action.shape == (3, 2) and found.env_action.shape == (3, 2, 1)
    assert found.action[0].tolist() == [0.5, pytest.approx(0.1)]


def test_what_else_the_inner_actor_gives_gets_through():
    actor = wrapped(0.5, 0.0)
    found = act(actor, 3)
    assert found.extras["extra"].tolist() == [[0.5, 0.0]] * 3
    assert actor.metrics() == {"inner": 1.0}


def test_a_deterministic_action_is_the_inner_one_and_draws_nothing():
    actor = wrapped(0.5, 0.0)
    before = actor._rng.bit_generator.state
    assert act(actor, 2, deterministic=True).env_action.tolist() == [[50.0, 0.0]] * 2
    assert actor._rng.bit_generator.state == before


@pytest.mark.parametrize("name", ["mean", "sigma"])
def test_another_number_of_values_than_an_action_has_is_refused(name):
    with pytest.raises(PlanError, match=f"{name} has 3 values, but an action has 2"):
        wrapped(0.0, 0.0, **{name: [0.1, 0.2, 0.3]})


@pytest.mark.parametrize("sigma", [-0.1, [0.1, -0.1]])
def test_a_negative_spread_is_refused(sigma):
    with pytest.raises(ValueError, match="sigma must be at least 0"):
        NormalNoiseConfig(sigma=sigma)


def test_it_is_for_continuous_actions_and_off_policy_algorithms(rlk_make):
    with pytest.raises(PlanError, match=r"'normal-noise' .*spaces Box, but .*is Discrete"):
        rlk_make("dqn", plugins=["normal-noise"])
    with pytest.raises(PlanError, match=r"'normal-noise' .*is for off-policy"):
        rlk_make("ppo2", env="Pendulum-v1", plugins=["normal-noise"])


def test_what_does_not_fit_the_actions_is_refused_while_planning():
    settings = {"plugins": ["normal-noise"], "normal-noise.sigma": [0.1, 0.1]}
    with pytest.raises(PlanError, match="sigma has 2 values, but an action has 1"):
        resolve(Kernel(), make_spec("td3", settings))


# ---- the documented object -----------------------------------------------------------------------


def test_the_object_gives_samples_of_its_own():
    normal = np.random.default_rng(0).standard_normal((3, 2))
    for sigma in (0.1, [0.1, 0.3]):
        noise = NormalActionNoise([0.5, -0.5], sigma, rng=np.random.default_rng(0))
        noise.reset()
        found = np.stack([noise() for _ in range(3)])
        assert np.allclose(found, [0.5, -0.5] + np.array(sigma) * normal)


@pytest.mark.parametrize("sigma", [-0.1, [0.1, -0.1], np.ones(3)])
def test_the_object_refuses_what_is_no_deviation(sigma):
    with pytest.raises(ValueError, match="sigma"):
        NormalActionNoise(np.zeros(2), sigma)


@pytest.mark.parametrize(
    ("noise", "expected"),
    [
        (
            NormalActionNoise(mean=np.zeros(2), sigma=0.1 * np.ones(2)),
            {"mean": [0.0, 0.0], "sigma": [0.1, 0.1]},
        ),
        (NormalActionNoise(0, np.float32(0.1)), {"mean": 0.0, "sigma": float(np.float32(0.1))}),
        (NormalActionNoise([[-1e-9]], [1 / 3]), {"mean": -1e-9, "sigma": 1 / 3}),
    ],
)
def test_the_object_stands_for_the_plugin_with_its_settings(noise, expected):
    name, settings = parse_plugin(noise.as_setting())
    assert name == "normal-noise"
    assert NormalNoiseConfig(**settings) == NormalNoiseConfig(**expected)


def test_a_run_takes_the_object_and_saves_it_by_its_text(rlk_make, tmp_path):
    given = {"action_noise": NormalActionNoise(np.zeros(1), 0.2 * np.ones(1))}
    agent = rlk_make("td3", env="Pendulum-v1", **given)
    loaded = rlk.load(agent.save(tmp_path / "model"))
    for one in (agent, loaded):
        assert [noise.name for noise in one.plan.noises] == ["normal-noise"]
        assert one.plan.noises[0].config == NormalNoiseConfig(sigma=0.2)
    loaded.close()


@pytest.mark.parametrize("wrong", [3, object(), np.zeros(2)])
def test_what_stands_for_no_noise_is_refused(wrong):
    message = r"algorithm 'td3' .*: action_noise names one of the noises .*, got "
    with pytest.raises(PlanError, match=message):
        resolve(Kernel(), make_spec("td3", {"action_noise": wrong}))


@pytest.mark.parametrize("name", ["mean", "sigma"])
def test_settings_that_a_run_copies_cannot_be_set(name):
    noise = NormalActionNoise(0.5, 0.5)
    with pytest.raises(
        AttributeError, match=f"NormalActionNoise.{name} cannot be set.*model.action"
    ):
        setattr(noise, name, 0.0)
    assert getattr(noise, name) == 0.5


@pytest.mark.parametrize("name", ["mean", "sigma"])
def test_settings_that_a_run_copies_cannot_be_changed_in_place(name):
    given = np.full(2, 0.5)
    noise = NormalActionNoise(given, given)
    with pytest.raises(ValueError, match="read-only"):
        getattr(noise, name)[:] = 0.0
    given[:] = 0.0
    assert getattr(noise, name).tolist() == [0.5, 0.5]


@pytest.mark.parametrize("made", [lambda kind: kind, attrs.define])
def test_a_derived_class_changes_its_settings(made):
    class Falling(NormalActionNoise):
        def __call__(self):
            self.sigma *= 0.5
            return super().__call__()

    noise = made(Falling)(0.0, 0.4)
    noise()
    assert noise.sigma == 0.2
    with pytest.raises(ValueError, match="sigma must be at least 0"):
        noise.sigma = -1.0
