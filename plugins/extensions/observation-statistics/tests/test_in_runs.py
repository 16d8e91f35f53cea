"""What the policy is given in a run: by the observations that were acted on, within the bounds."""

from __future__ import annotations

import math
from types import SimpleNamespace

import gymnasium as gym
import numpy as np
import pytest
import torch

import rlk
from rlk.errors import PlanError
from rlk.one_process import OneProcess
from rlk_observation_statistics.bounds import Bounds, ObservationRange
from rlk_observation_statistics.config import RangeConfig, StatisticsConfig
from rlk_observation_statistics.statistics import RunningStatistics
from rlk_running_statistics.observations import boxes
from rlk_testing.stand_ins import stand_in_kernel

BOX = "rlk_testing.environments:BoxMatch"


class Sees:
    """Keeps every observation that an action was chosen for."""

    def __init__(self):
        self.rows = []

    @rlk.hookimpl
    def rlk_step(self, step):
        self.rows.append(np.copy(step.observation))


def made(*plugins, **settings):
    kernel = stand_in_kernel(discover=True)
    return rlk.make("stand-in", kernel=kernel, env=BOX, seed=3, plugins=list(plugins), **settings)


def test_the_policy_normalises_by_all_that_training_has_acted_on():
    sees, given = Sees(), torch.tensor([[0.5, -2.0], [3.0, 0.1]])
    with made("observation-statistics", sees, n_envs=3) as agent:
        (statistics,) = (m for m in agent.run.policy.children() if hasattr(m, "observation"))
        assert statistics(given).equal(given), "nothing was seen"
        agent.learn(96)
        seen = np.concatenate(sees.rows).astype(np.float64)
        # Beside a ten-thousandth of a row with mean 0 and variance 1.
        expected = (given.numpy() - seen.mean(0)) / seen.std(0)
        np.testing.assert_allclose(statistics(given), expected, rtol=1e-3, atol=1e-4)
        np.testing.assert_allclose(statistics.numpy_forward()(given.numpy()), expected, rtol=1e-3)


def filtering(**settings):
    """The plugin of a run whose observations are two numbers, and what it gives the policy."""
    plugin = RunningStatistics(StatisticsConfig(**settings))
    space = gym.spaces.Box(-9.0, 9.0, (2,), np.float32)
    return plugin, plugin.rlk_filter_observation(SimpleNamespace(observation_space=space))


def sees(plugin, *rows):
    plugin.rlk_step(SimpleNamespace(observation=np.float32(rows)))


def test_every_rank_normalises_by_what_all_of_them_have_seen():
    plugin, statistics = filtering()
    sees(plugin, [1.0, 0.0], [3.0, 0.0])
    theirs = np.array([6.0, 2.0]), np.array([3.0, 0.0]), 6.0
    ranks = SimpleNamespace(gather=lambda mine: [theirs, mine])
    plugin.rlk_rollout_end(SimpleNamespace(communicator=ranks))
    moments = statistics.observation
    # Eight rows: six around 6 with variance 3, and 1 and 3; six of 2, and two of 0.
    assert moments.count == pytest.approx(8.0, rel=1e-4)
    assert moments.mean == pytest.approx([5.0, 1.5], rel=1e-3)
    assert moments.var == pytest.approx([(6 * (3 + 1) + 16 + 4) / 8, 0.75], rel=1e-3)


def test_variances_have_epsilon_added():
    plugin, statistics = filtering(epsilon=3.0)
    sees(plugin, [0.0, 0.0], [2.0, 0.0])  # variances 1 and 0
    plugin.rlk_rollout_end(SimpleNamespace(communicator=OneProcess()))
    assert statistics.std.tolist() == pytest.approx([2.0, 3.0**0.5], rel=1e-3)


def test_what_is_seen_in_the_middle_of_a_collection_is_saved():
    ranks = SimpleNamespace(communicator=OneProcess())
    (first, whole), (second, continued) = filtering(), filtering()
    sees(first, [1.0, 5.0], [4.0, 5.0])
    second.rlk_load(first.rlk_save())
    for plugin in (first, second):
        sees(plugin, [-2.0, 6.0])
        plugin.rlk_rollout_end(ranks)
    assert whole.mean.tolist() == pytest.approx([1.0, 16 / 3], rel=1e-3)
    assert continued.mean.equal(whole.mean) and continued.std.equal(whole.std)


@pytest.mark.parametrize("more", [[], ["no:numpy-acting"]])
def test_a_range_leaves_the_masks_of_actions_alone(rlk_make, more):
    plugins = ["observation-range:range=[-0.1,0.1]", "action-masking", *more]
    agent = rlk_make("a2c", env="rlk_testing.environments:MaskedGame", plugins=plugins, seed=0)
    agent.learn(20)
    space, found = agent.run.observation_space, []
    for number in (0.1, 9.0):
        seen = torch.full((1, *space["observation"].shape), number)
        mask = torch.ones(1, *space["action_mask"].shape, dtype=torch.int8)
        found.append(agent.run.policy({"observation": seen, "action_mask": mask}, "pi")[0])
    assert found[0].equal(found[1])


@pytest.mark.parametrize("order", [1, -1])
def test_observations_are_normalised_before_they_are_clipped(order):
    with made(*["observation-range", "observation-statistics"][::order]) as agent:
        *_, statistics, bounds = agent.run.policy.children()
        assert hasattr(statistics, "observation") and isinstance(bounds, Bounds)


def test_statistics_change_after_a_collection_and_never_outside_of_training():
    with made("observation-statistics") as agent:
        agent.learn(32)
        before = [buffer.clone() for buffer in agent.run.policy.buffers()]
        agent.predict(np.full((1, 2), 50.0, np.float32))
        assert all(a.equal(b) for a, b in zip(before, agent.run.policy.buffers(), strict=True))


def test_a_model_holds_them(tmp_path):
    with made("observation-statistics") as agent:
        agent.learn(64)
        path, kernel = agent.save(tmp_path / "model"), stand_in_kernel(discover=True)
        with rlk.load(path, kernel=kernel, env=BOX) as loaded:
            one, other = (dict(a.run.policy.named_buffers()) for a in (agent, loaded))
            assert one and all(one[name].equal(other[name]) for name in one)


def test_on_policy_algorithms_are_refused(rlk_make):
    with pytest.raises(PlanError, match=r"observation-statistics.*off-policy.*ppo2"):
        rlk_make("ppo2", env=BOX, plugins=["observation-statistics"])


def test_a_range_clips_every_box_but_images_and_the_same_in_numpy():
    space = gym.spaces.Dict(
        image=gym.spaces.Box(0, 255, (4, 4, 3), np.uint8),
        place=gym.spaces.Box(-9.0, 9.0, (2,), np.float32),
    )
    bounds = Bounds([key for key, *_ in boxes(space)], -1.0, 2.0)
    given = {"image": torch.full((1, 4, 4, 3), 7.0), "place": torch.tensor([[-3.0, 3.0]])}
    found = bounds(given)
    assert found["image"] is given["image"] and found["place"].tolist() == [[-1.0, 2.0]]
    arrays = {key: value.numpy() for key, value in given.items()}
    assert bounds.numpy_forward()(arrays)["place"].tolist() == [[-1.0, 2.0]]


@pytest.mark.parametrize(("low", "high"), [("-inf", "0.5"), ("-0.5", "inf")])
def test_a_range_may_have_one_bound(low, high):
    with made(f"observation-range:range=[{low},{high}]") as agent:
        (bounds,) = (one for one in agent.run.policy.children() if isinstance(one, Bounds))
        assert (bounds.low, bounds.high) == (float(low), float(high))


@pytest.mark.parametrize("wrong", ["[2,1]", "[1,1]", "3"])
def test_a_range_that_holds_nothing_is_refused(wrong):
    with pytest.raises(PlanError, match="range"):
        made(f"observation-range:range={wrong}")


IMAGE = gym.spaces.Box(0, 255, (36, 36, 3), np.uint8)


class Camera(gym.Env):
    """An environment of images."""

    observation_space = IMAGE
    action_space = gym.spaces.Box(-1.0, 1.0, (1,), np.float32)


class PlacedCamera(Camera):
    """It also tells where the camera is."""

    observation_space = gym.spaces.Dict(
        image=IMAGE, place=gym.spaces.Box(-9.0, 9.0, (2,), np.float32)
    )


@pytest.mark.parametrize(
    "setting", [{"normalize_observations": True}, {"observation_range": (-0.5, 0.5)}]
)
def test_what_would_change_no_observation_is_refused(rlk_make, setting):
    (name,) = setting
    with pytest.raises(PlanError, match=f"would have no effect.*uint8.*leave out {name}"):
        rlk_make("ddpg", env=Camera, **setting)
    assert rlk_make("ddpg", env=PlacedCamera, policy="multi-input", **setting)
    assert rlk_make("ddpg", env=Camera), "its default range is for any environment"
    assert rlk_make("ddpg", env=Camera, observation_range=(-math.inf, math.inf)), "no range"


def test_numbers_of_states_are_not_normalised(rlk_make):
    with pytest.raises(PlanError, match=r"would have no effect.*Discrete\(16\)"):
        rlk_make("dqn", env="FrozenLake-v1", plugins=["observation-statistics"])


IMAGE = gym.spaces.Box(0, 255, (8, 8, 3), np.uint8)


@pytest.mark.parametrize("space", [IMAGE, gym.spaces.Dict(eye=IMAGE, room=gym.spaces.Discrete(3))])
def test_where_nothing_would_change_there_is_no_filter(space):
    run = SimpleNamespace(observation_space=space)
    assert ObservationRange().rlk_filter_observation(run) is None
    assert RunningStatistics().rlk_filter_observation(run) is None
    endless = ObservationRange(RangeConfig(range=(-math.inf, math.inf)))
    run.observation_space = gym.spaces.Box(-1.0, 1.0, (2,), np.float32)
    assert endless.rlk_filter_observation(run) is None
