from __future__ import annotations

import math
from types import SimpleNamespace

import gymnasium as gym
import numpy as np
import pytest

from rlk.errors import PlanError
from rlk.planning.parse import parse_plugin
from rlk.planning.resolve import resolve
from rlk.planning.spec import make_spec
from rlk.records import Act
from rlk.registry.kernel import Kernel
from rlk.running.seeding import Streams
from rlk_ornstein_uhlenbeck_noise import OrnsteinUhlenbeckActionNoise
from rlk_ornstein_uhlenbeck_noise.config import OrnsteinUhlenbeckNoiseConfig
from rlk_ornstein_uhlenbeck_noise.noise import OrnsteinUhlenbeckNoise
from rlk_testing import NoiseContract

LOW, HIGH = np.array([-1.0, 0.0], np.float32), np.array([2.0, 0.5], np.float32)
BOX = gym.spaces.Box(LOW, HIGH)
GOES_ON, STARTS = np.zeros(3, bool), np.ones(3, bool)


class TestOrnsteinUhlenbeckNoise(NoiseContract):
    component = "ornstein-uhlenbeck-noise"


class TestOrnsteinUhlenbeckNoiseThatBeginsElsewhere(NoiseContract):
    component = "ornstein-uhlenbeck-noise"
    settings = {"sigma": [0.5, 0.0], "initial_noise": [0.1, -0.2], "theta": 1.0, "dt": 0.1}
    action_spaces = (gym.spaces.Box(-2.0, 1.0, (2, 1), np.float32),)


class Still:
    """Always 0, in -1 to 1."""

    def start(self, n_envs):
        return None

    def metrics(self):
        return {"inner": 1.0}

    def act(self, observation, carry, episode_start, deterministic=False):
        action = np.zeros((len(episode_start), 2), np.float32)
        return Act(action, action, carry, {})


def wrapped(seed=0, inner=None, **settings):
    run = SimpleNamespace(action_space=BOX, streams=Streams(seed))
    noise = OrnsteinUhlenbeckNoise(run, OrnsteinUhlenbeckNoiseConfig(**settings))
    return noise.wrap(inner or Still(), None)


def series(actor, steps, n_envs=3, starts=()):
    """What it does in that many steps, [steps, n_envs, 2]; episodes start at these steps."""
    carry, found = actor.start(n_envs), []
    for t in range(steps):
        start = np.full(n_envs, t in starts)
        act = actor.act(np.zeros((n_envs, 1)), carry, start)
        carry = act.carry
        found.append(act.action)
    return np.stack(found)


def test_a_step_by_hand():
    run = SimpleNamespace(action_space=BOX)
    config = OrnsteinUhlenbeckNoiseConfig(mean=1.0, sigma=[0.5, 2.0], theta=0.4, dt=0.25)
    found = OrnsteinUhlenbeckNoise(run, config).step(
        np.array([[0.0, 2.0]], np.float32), np.array([[1.0, -1.0]], np.float32)
    )
    # 0 + 0.4 * (1 - 0) * 0.25 + 0.5 * sqrt(0.25) * 1 and 2 + 0.4 * (1 - 2) * 0.25 - 2 * 0.5
    assert found.tolist() == [[pytest.approx(0.1 + 0.25), pytest.approx(2.0 - 0.1 - 1.0)]]
    assert found.dtype == np.float32


def test_a_deterministic_step_moves_what_the_inner_actor_carries_and_not_the_noise():
    class Counts(Still):
        def act(self, observation, carry, episode_start, deterministic=False):
            return super().act(observation, carry + 1, episode_start, deterministic)

    x = np.full((3, 2), 0.5, np.float32)
    found = wrapped(inner=Counts()).act(np.zeros((3, 1)), {"inner": 4, "noise": x}, STARTS, True)
    assert found.carry["inner"] == 5 and found.carry["noise"] is x


def test_it_logs_what_the_inner_actor_logs():
    assert wrapped().metrics() == {"inner": 1.0}


def test_a_series_equals_the_process_written_as_a_loop():
    found = series(wrapped(seed=5, sigma=0.3, theta=0.2, dt=0.1), 50)
    rng, x = Streams(5).numpy("noise"), np.zeros((3, 2))
    for t in range(50):
        normal = rng.standard_normal((3, 2), dtype=np.float32)
        for env in range(3):
            for i in range(2):
                now = x[env, i]
                x[env, i] = now - 0.2 * now * 0.1 + 0.3 * math.sqrt(0.1) * normal[env, i]
        assert np.allclose(found[t], np.clip(x, -1, 1), atol=1e-5)


def test_without_spread_it_decays_to_its_mean():
    found = series(wrapped(mean=0.5, sigma=0.0, theta=1.0, dt=0.5, initial_noise=-0.5), 40)
    expected = [0.5 - 0.5 ** (t + 1) for t in range(40)]
    assert found[:, 0, 0] == pytest.approx(np.array(expected), abs=1e-5)


def test_in_the_long_run_its_spread_is_that_of_the_process():
    settings = {"sigma": 0.2, "theta": 1.0, "dt": 0.1}
    found = series(wrapped(**settings), 400, n_envs=500)[100:]
    # x' = (1 - theta dt) x + sigma sqrt(dt) n: variance sigma^2 dt / (1 - (1 - theta dt)^2)
    expected = math.sqrt(0.04 * 0.1 / (1 - 0.9**2))
    # 300 steps of 1,000 series, one in some 20 of them independent: about 1 % each way
    assert found.std() == pytest.approx(expected, rel=0.03)
    lag = np.corrcoef(found[:-1].ravel(), found[1:].ravel())[0, 1]
    assert lag == pytest.approx(0.9, abs=0.02)


def test_an_episode_that_starts_finds_it_at_its_initial_value_and_others_go_on():
    actor = wrapped(sigma=0.0, mean=1.0, theta=1.0, dt=0.1, initial_noise=[0.2, -0.4])
    carry = {"inner": None, "noise": np.full((3, 2), 0.6, np.float32)}
    found = actor.act(np.zeros((3, 1)), carry, np.array([False, True, False]))
    assert found.action[0].tolist() == pytest.approx([0.64, 0.64])
    assert found.action[1].tolist() == pytest.approx([0.2 + 0.08, -0.4 + 0.14])
    assert found.action[2].tolist() == pytest.approx([0.64, 0.64])
    assert carry["noise"].tolist() == np.full((3, 2), np.float32(0.6)).tolist()


def test_the_carry_holds_the_process_and_not_what_was_clipped():
    actor = wrapped(sigma=0.0, theta=0.0, initial_noise=3.0)
    found = actor.act(np.zeros((3, 1)), actor.start(3), STARTS)
    assert found.action.max() == 1.0 and found.carry["noise"].max() == 3.0


def test_what_is_stored_is_clipped_and_the_environment_gets_it_in_its_bounds():
    actor = wrapped(sigma=5.0, dt=1.0)
    found = actor.act(np.zeros((200, 1)), actor.start(200), np.ones(200, bool))
    assert found.action.min() == -1.0 and found.action.max() == 1.0
    assert np.allclose(found.env_action, LOW + (found.action + 1) / 2 * (HIGH - LOW), atol=1e-6)


def test_a_deterministic_action_leaves_the_process_where_it_is():
    actor = wrapped()
    carry = actor.act(np.zeros((3, 1)), actor.start(3), STARTS).carry
    before = actor._rng.bit_generator.state
    found = actor.act(np.zeros((3, 1)), carry, GOES_ON, deterministic=True)
    assert not found.action.any() and found.carry["noise"] is carry["noise"]
    assert actor._rng.bit_generator.state == before


@pytest.mark.parametrize("name", ["mean", "sigma", "initial_noise"])
def test_another_number_of_values_than_an_action_has_is_refused(name):
    with pytest.raises(PlanError, match=f"{name} has 3 values, but an action has 2"):
        wrapped(**{name: [0.1, 0.2, 0.3]})


@pytest.mark.parametrize("wrong", [{"sigma": -0.1}, {"theta": -1.0}, {"dt": 0.0}])
def test_what_is_out_of_range_is_refused(wrong):
    with pytest.raises(ValueError, match=next(iter(wrong))):
        OrnsteinUhlenbeckNoiseConfig(**wrong)


def test_defaults_are_those_of_stable_baselines():
    config = OrnsteinUhlenbeckNoiseConfig()
    assert (config.theta, config.dt, config.initial_noise) == (0.15, 0.01, None)


# ---- the documented object -----------------------------------------------------------------------


def test_the_object_goes_on_as_the_process_and_begins_again_when_it_is_reset():
    noise = OrnsteinUhlenbeckActionNoise(
        np.array([0.5, 0.0]), np.array([0.1, 0.2]), theta=0.4, dt=0.25, initial_noise=[1.0, -1.0]
    )
    noise.rng = np.random.default_rng(0)
    normal, x, found = np.random.default_rng(0).standard_normal((3, 2)), [1.0, -1.0], []
    for t in range(2):
        for i, (mean, sigma) in enumerate([(0.5, 0.1), (0.0, 0.2)]):
            x[i] += 0.4 * (mean - x[i]) * 0.25 + sigma * math.sqrt(0.25) * normal[t, i]
        found.append(noise())
        assert found[t].tolist() == pytest.approx(x)
    noise.reset()
    expected = [1.0 - 0.05 + 0.05 * normal[2, 0], -1.0 + 0.1 + 0.1 * normal[2, 1]]
    assert noise().tolist() == pytest.approx(expected)


def test_a_value_of_the_object_stays_as_it_is_when_the_process_goes_on():
    noise = OrnsteinUhlenbeckActionNoise(np.zeros(2), np.ones(2))
    value = noise()
    before = value.copy()
    noise()
    assert np.array_equal(value, before)


def test_the_object_has_the_documented_defaults_and_begins_at_0():
    noise = OrnsteinUhlenbeckActionNoise(np.zeros(3), 0.0)
    assert (noise.theta, noise.dt, noise.initial_noise) == (0.15, 0.01, None)
    assert noise().tolist() == [0.0, 0.0, 0.0]


def test_one_number_to_begin_with_is_that_of_every_dimension():
    noise = OrnsteinUhlenbeckActionNoise(np.zeros(3), 1.0, initial_noise=0.5, theta=0.0)
    assert len(set(noise().tolist())) == 3


@pytest.mark.parametrize(
    ("wrong", "named"),
    [
        ({"sigma": [0.1, -0.1]}, "sigma must be at least 0"),
        ({"sigma": np.ones(3)}, "mean has 2, sigma has 3 values"),
        ({"sigma": 0.1, "initial_noise": np.ones(3)}, "mean has 2, initial_noise has 3 values"),
    ],
)
def test_the_object_refuses_what_is_no_process(wrong, named):
    with pytest.raises(ValueError, match=named):
        OrnsteinUhlenbeckActionNoise(np.zeros(2), **wrong)


@pytest.mark.parametrize(
    ("noise", "expected"),
    [
        (
            OrnsteinUhlenbeckActionNoise(mean=np.zeros(2), sigma=0.5 * np.ones(2)),
            {"mean": [0.0, 0.0], "sigma": [0.5, 0.5]},
        ),
        (
            OrnsteinUhlenbeckActionNoise(0.1, 1e-7, theta=1, dt=0.1, initial_noise=[-0.25, 1 / 3]),
            {"mean": 0.1, "sigma": 1e-7, "theta": 1.0, "dt": 0.1, "initial_noise": [-0.25, 1 / 3]},
        ),
    ],
)
def test_the_object_stands_for_the_plugin_with_its_settings(noise, expected):
    name, settings = parse_plugin(noise.as_setting())
    assert name == "ornstein-uhlenbeck-noise"
    assert OrnsteinUhlenbeckNoiseConfig(**settings) == OrnsteinUhlenbeckNoiseConfig(**expected)


def test_a_run_takes_the_object(rlk_make):
    noise = OrnsteinUhlenbeckActionNoise(np.zeros(1), 0.5 * np.ones(1), theta=0.3)
    agent = rlk_make("sac", env="Pendulum-v1", action_noise=noise)
    config = agent.plan.noises[0].config
    assert (config.mean, config.sigma, config.theta) == (0.0, 0.5, 0.3)
    assert agent.plan.algorithm.config.action_noise == noise.as_setting()


def test_a_process_that_does_not_return_to_its_mean_is_refused_while_planning():
    def planned(theta):
        given = {"ornstein-uhlenbeck-noise.theta": theta, "ornstein-uhlenbeck-noise.dt": 1.0}
        return resolve(
            Kernel(), make_spec("td3", {"plugins": ["ornstein-uhlenbeck-noise"], **given})
        )

    assert planned(1.9)
    with pytest.raises(PlanError, match=r"noise.* has theta=2.0 and dt=1.0: .* less than 2"):
        planned(2.0)  # x' = -x + noise: its variance grows with every step


@pytest.mark.parametrize("given", [{"initial_noise": [0.1, 0.2, 0.3]}, {"sigma": [0.1, 0.1]}])
def test_what_does_not_fit_the_actions_is_refused_while_planning(given):
    settings = {f"ornstein-uhlenbeck-noise.{key}": value for key, value in given.items()}
    spec = make_spec("td3", {"plugins": ["ornstein-uhlenbeck-noise"], **settings})
    with pytest.raises(PlanError, match=rf"{next(iter(given))} has \d values, but an action has 1"):
        resolve(Kernel(), spec)


@pytest.mark.parametrize("name", ["mean", "sigma", "theta", "dt", "initial_noise"])
def test_settings_that_a_run_copies_cannot_be_set(name):
    noise = OrnsteinUhlenbeckActionNoise(0.5, 0.5, 0.5, 0.5, 0.5)
    with pytest.raises(
        AttributeError, match=f"ActionNoise.{name} cannot be set.*model.action_noise"
    ):
        setattr(noise, name, 0.0)
    assert getattr(noise, name) == 0.5


@pytest.mark.parametrize("name", ["mean", "sigma", "initial_noise"])
def test_settings_that_a_run_copies_cannot_be_changed_in_place(name):
    given = np.full(2, 0.5)
    noise = OrnsteinUhlenbeckActionNoise(given, given, initial_noise=given)
    with pytest.raises(ValueError, match="read-only"):
        getattr(noise, name)[:] = 0.0
    given[:] = 0.0
    assert getattr(noise, name).tolist() == [0.5, 0.5]
