"""`normalize`: the policy's input, the scaled rewards, and which objects share the statistics."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
import torch
from gymnasium.vector import AutoresetMode, VectorEnv

import rlk
from rlk.errors import PlanError
from rlk.one_process import OneProcess
from rlk.registry.hooks import Hooks
from rlk.running.vec_env import make_vec_env
from rlk_testing.environments import Walk
from rlk_testing.stand_ins import StandIn, stand_in_kernel
from rlk_wrappers import VectorMonitor
from rlk_wrappers.config import NormalizeConfig
from rlk_wrappers.normalize import NAME, normalize
from rlk_wrappers.normalizer import Normalizer

N = 2
BOX = gym.spaces.Box(-np.inf, np.inf, (2,), np.float32)


class Script(VectorEnv[Any, Any, Any]):
    """Two environments: observations [T, 2, 2], rewards and ends [T, 2]; the second truncates."""

    metadata = {"autoreset_mode": AutoresetMode.SAME_STEP}
    num_envs = N
    single_observation_space = BOX
    single_action_space = gym.spaces.Discrete(2)

    def __init__(self, observations: Any, rewards: Any, ends: Any) -> None:
        self.observations = np.asarray(observations, np.float32)
        self.rewards, self.ends = np.asarray(rewards, np.float32), np.asarray(ends)
        self.at = 0

    def reset(self, *, seed: Any = None, options: Any = None) -> tuple[Any, dict[str, Any]]:
        self.at = 0
        return self.observations[0], {}

    def step(self, actions: Any) -> Any:
        self.at += 1
        at, ends = self.at, self.ends[self.at]
        return self.observations[at], self.rewards[at], ends & [1, 0] > 0, ends & [0, 1] > 0, {}


def scripted(rewards: Any, ends: Any = None, **settings: Any) -> tuple[Any, Normalizer, Script]:
    rng = np.random.default_rng(0)
    ends = np.zeros((len(rewards), N), bool) if ends is None else ends
    script = Script(rng.normal(3.0, 2.0, (len(rewards), N, 2)), rewards, ends)
    hooks = Hooks()
    env = normalize(script, NormalizeConfig(**settings), hooks=hooks)
    return env, hooks.get(NAME), script


class Run:
    communicator = OneProcess()


def play(env: Any, steps: int) -> Any:
    env.reset()
    return np.stack([env.step(np.zeros(N, int))[1] for _ in range(steps)])


# ---- observations --------------------------------------------------------------------------------


def test_observations_stay_raw_and_all_are_counted() -> None:
    env, normalizer, script = scripted(np.zeros((6, N)))
    first, _ = env.reset()
    seen = [first, *[env.step(np.zeros(N, int))[0] for _ in range(5)]]
    assert np.array_equal(np.stack(seen), script.observations)
    normalizer.rlk_rollout_end(Run())
    moments, rows = normalizer.statistics.observation, np.concatenate(seen).astype(np.float64)
    assert moments.count == pytest.approx(12.0, abs=1e-3)
    np.testing.assert_allclose(moments.mean, rows.mean(0), rtol=1e-4)
    np.testing.assert_allclose(moments.var, rows.var(0), rtol=1e-3)


def test_a_partial_reset_counts_only_the_environments_of_its_mask(counting: Any) -> None:
    hooks = Hooks()
    env = normalize(counting(shape=(2,), length=9), hooks=hooks)
    env.reset()
    env.step(np.zeros((N, 2), np.float32))
    env.reset(options={"reset_mask": np.array([True, False])})
    env.step(np.zeros((N, 2), np.float32))
    normalizer = hooks.get(NAME)
    normalizer.rlk_rollout_end(Run())
    # 10 and 10, 11 and 11, then 20 of the first environment, then 21 and 12.
    moments = normalizer.statistics.observation
    assert moments.count == pytest.approx(7.0, abs=1e-3)
    np.testing.assert_allclose(moments.mean, np.full(2, 95 / 7), rtol=1e-4)


def test_what_the_policy_sees_changes_between_collections_only() -> None:
    env, normalizer, _ = scripted(np.zeros((6, N)))
    observation = torch.tensor([[3.0, 3.0]])
    play(env, 5)
    normalizer.rlk_rollout_end(Run())
    assert torch.equal(normalizer.statistics(observation), observation)
    normalizer.rlk_rollout_start()
    assert not torch.equal(normalizer.statistics(observation), observation)


# ---- rewards -------------------------------------------------------------------------------------


def test_a_scaled_reward_by_hand() -> None:
    env, _, _ = scripted([[0, 0], [1, 3], [2, 1]], gamma=0.5, clip_reward=100.0)
    env.reset()
    first = env.step(np.zeros(N, int))[1]
    # Returns 1 and 3: variance 1, apart from the prior's 1e-4 rows.
    assert first.tolist() == pytest.approx([1.0, 3.0], rel=1e-3)
    second = env.step(np.zeros(N, int))[1]
    # Then 0.5 * 1 + 2 = 2.5 and 0.5 * 3 + 1 = 2.5: of 1, 3, 2.5, 2.5 the variance is 0.5625.
    assert second.tolist() == pytest.approx([2.0 / 0.75, 1.0 / 0.75], rel=1e-3)


def deviation(values: Any) -> Any:
    """Standard deviation of numbers and of the prior, 1e-4 numbers of mean 0 and variance 1."""
    values = np.ravel(values)
    count = len(values) + 1e-4
    return np.sqrt((np.square(values).sum() + 1e-4) / count - (values.sum() / count) ** 2)


def by_hand(rewards: Any, ends: Any, gamma: float, clip: float) -> Any:
    """Stable Baselines' order of computation, with all returns kept."""
    returns, seen, scaled = np.zeros(N), [], []
    for reward, ended in zip(rewards, ends, strict=True):
        returns = returns * gamma + reward
        seen.append(returns)
        scaled.append(np.clip(reward / deviation(seen), -clip, clip))
        returns = np.where(ended, 0.0, returns)
    return np.stack(scaled)


def test_a_reset_begins_the_returns_anew() -> None:
    env, normalizer, _ = scripted([[0.0, 0.0], [1.0, 2.0]])
    for _ in range(2):
        env.reset()
        env.step(np.zeros(N, int))
    mean, _, count = normalizer._returns.moments()
    assert (mean.item(), count) == (1.5, 4)


def test_rewards_are_scaled_as_by_the_variance_of_all_returns_so_far() -> None:
    rng = np.random.default_rng(2)
    rewards, ends = rng.normal(1.0, 3.0, (60, N)), rng.random((60, N)) < 0.1
    env, normalizer, _ = scripted(rewards, ends, gamma=0.9, clip_reward=2.0)
    env.reset()
    found = []
    for t in range(1, 60):
        found.append(env.step(np.zeros(N, int))[1])
        if t % 7 == 0:  # moments are merged in between, which must not change anything
            normalizer.rlk_rollout_end(Run())
    expected = by_hand(rewards[1:], ends[1:], 0.9, 2.0)
    assert np.abs(expected).max() == 2.0
    np.testing.assert_allclose(np.stack(found), expected, rtol=1e-5)


def test_returns_of_episodes_stay_those_of_the_environment() -> None:
    ends = np.array([[False, False], [False, False], [True, False]])
    env, _, _ = scripted([[0, 0], [10, 1], [20, 1]], ends)
    env.reset()
    env.step(np.zeros(N, int))
    infos = env.step(np.zeros(N, int))[4]
    assert infos["final_info"]["episode"]["r"].tolist() == [30.0, 0.0]


def test_a_monitor_inside_is_enough() -> None:
    script = Script(np.zeros((2, N, 2)), np.zeros((2, N)), np.zeros((2, N), bool))
    inside = VectorMonitor(script)
    assert normalize(inside).env is inside  # type: ignore[attr-defined]
    assert isinstance(normalize(script).env, VectorMonitor)  # type: ignore[attr-defined]


def test_each_of_the_two_can_be_left_out() -> None:
    env, normalizer, _ = scripted(np.full((6, N), 7.0), norm_reward=False)
    assert (play(env, 5) == 7.0).all()
    normalizer.rlk_rollout_end(Run())
    assert normalizer.statistics.returns.count == pytest.approx(1e-4)
    env, normalizer, _ = scripted(np.full((6, N), 7.0), norm_obs=False)
    assert (play(env, 5) != 7.0).all()
    assert normalizer.statistics.size == 0


def test_without_training_statistics_stay_and_rewards_are_scaled_by_them() -> None:
    env, normalizer, _ = scripted(np.full((6, N), 6.0), training=False)
    normalizer.statistics.returns.var[:] = 4.0
    assert play(env, 5).tolist() == np.full((5, N), 3.0).tolist()
    normalizer.rlk_rollout_end(Run())
    assert normalizer.statistics.returns.var[0] == 4.0
    assert normalizer.statistics.observation.count == pytest.approx(1e-4)


def test_ranks_take_in_what_all_have_seen() -> None:
    rng = np.random.default_rng(4)
    parts = [rng.normal(size=(6, 2)), rng.normal(5.0, 2.0, size=(4, 2))]

    both = [Normalizer(NormalizeConfig(), BOX) for _ in parts]
    for one, part in zip(both, parts, strict=True):
        one.see(part)
        one.follow(part[:, 0])
    moments = [(one._observation.moments(), one._returns.moments()) for one in both]

    class Together(Run):
        class communicator:
            gather = staticmethod(lambda mine: moments)

    for one in both:
        one.rlk_rollout_end(Together())  # type: ignore[arg-type]
        seen = np.concatenate(parts)
        np.testing.assert_allclose(one.statistics.observation.mean, seen.mean(0), rtol=1e-4)
        np.testing.assert_allclose(one.statistics.observation.var, seen.var(0), rtol=1e-4)
        np.testing.assert_allclose(one.statistics.returns.var, seen[:, 0].var(), rtol=1e-4)
    first, second = (one.statistics.observation for one in both)
    assert np.array_equal(first.mean, second.mean) and np.array_equal(first.var, second.var)


# ---- in a run ------------------------------------------------------------------------------------

KERNEL = stand_in_kernel(discover=True)


def agent(**settings: Any) -> rlk.Agent:
    keywords = {
        "env": Walk,
        "n_envs": 2,
        "n_steps": 6,
        "seed": 3,
        "plugins": ["normalize"],
        **settings,
    }
    return rlk.make("stand-in", kernel=KERNEL, n_threads=1, **keywords)


def statistics(made: rlk.Agent) -> dict[str, np.ndarray[Any, Any]]:
    buffers = dict(made.run.policy.named_buffers())
    return {name: buffer.numpy().copy() for name, buffer in buffers.items() if "filter" in name}


def test_statistics_are_in_every_model(tmp_path: Path) -> None:
    with agent() as made:
        made.learn(60)
        path = made.save(tmp_path / "model")
        with rlk.load(path, kernel=KERNEL, env=Walk) as again:
            for name, found in statistics(again).items():
                assert np.array_equal(found, statistics(made)[name]), name
            assert statistics(again)["filter1.observation_count"][0] > 60
            x = torch.ones(1, *made.plan.observation_space.shape)
            assert torch.equal(again.run.policy(x, "vf")[0], made.run.policy(x, "vf")[0])


def test_a_resumed_run_goes_on_bit_for_bit(tmp_path: Path) -> None:
    with agent() as made:
        made.learn(60)
        path = made.save_checkpoint(tmp_path / "checkpoint")
        made.learn(60, reset_num_timesteps=False)
        with rlk.load(path, kernel=KERNEL, env=Walk) as again:
            assert again.differs == []
            again.learn(60, reset_num_timesteps=False)
            assert torch.equal(again.run.parameters.flat, made.run.parameters.flat)
            for name, found in statistics(again).items():
                assert np.array_equal(found, statistics(made)[name]), name


def test_a_checkpoint_in_the_middle_of_a_collection_has_what_was_seen_in_it(tmp_path: Path) -> None:
    with agent() as made:
        made.learn(24)
        env = made.run.env
        env.step(np.zeros(N, int))
        path = made.save_checkpoint(tmp_path / "checkpoint")
        with rlk.load(path, kernel=KERNEL, env=Walk) as again:
            for one in (made, again):
                one.run.env.step(np.ones(N, int))
                one.run.hooks.get(NAME).rlk_rollout_end(one.run)
            for name, found in statistics(again).items():
                assert np.array_equal(found, statistics(made)[name]), name


def test_evaluations_have_the_statistics_and_do_not_move_them() -> None:
    with agent() as made:
        made.learn(60)
        before = statistics(made)
        evaluation = make_vec_env(made.plan, made.run.hooks, 3, training=False)
        observation, _ = evaluation.reset(seed=[1, 2, 3])
        for _ in range(20):
            made.predict(observation)
            observation, reward, *_ = evaluation.step(np.ones(3, int))
        plain = make_vec_env(agent(plugins=[]).plan, Hooks(), 3, training=False)
        plain.reset(seed=[1, 2, 3])
        for _ in range(20):
            expected = plain.step(np.ones(3, int))
        assert np.array_equal(observation, expected[0]) and np.array_equal(reward, expected[1])
        made.run.hooks.get(NAME).rlk_rollout_end(made.run)
        for name, found in statistics(made).items():
            assert np.array_equal(found, before[name]), name


def test_another_environment_goes_on_with_the_same_statistics() -> None:
    with agent() as made:
        made.learn(60)
        before = statistics(made)["filter1.observation_count"][0]
        made.set_env(Walk)
        made.learn(60, reset_num_timesteps=False)
        assert statistics(made)["filter1.observation_count"][0] == pytest.approx(before + 62)


def test_an_off_policy_algorithm_keeps_rewards_raw_and_learns_from_scaled_ones() -> None:
    import attrs

    learnt, kept = [], []

    class OffPolicy(StandIn):
        def update(self, batch: Any, optimise: Any) -> Any:
            learnt.append(batch.reward)
            return super().update(batch, optimise)

        def batches(self, storage: Any) -> Any:
            for batch in super().batches(storage):
                # The reward of a Walk is the first number of its next observation.
                assert torch.equal(batch.reward, batch.next_observation[:, 0])
                kept.append((batch.reward, self.run.policy.filter1.return_var.item()))
                yield batch

    kernel = stand_in_kernel(discover=True)
    component = kernel.registries.algorithms.get("stand-in").component()
    kernel.registries.algorithms.unregister("stand-in")
    off = attrs.evolve(component, factory=OffPolicy, collects="off-policy")
    kernel.registries.algorithms.register("stand-in", off)
    plugins = ["normalize:clip_reward=0.5"]
    with rlk.make("stand-in", kernel=kernel, env=Walk, plugins=plugins, seed=1) as made:
        made.learn(100)
    assert len(kept) == len(learnt) > 3
    for (raw, var), scaled in zip(kept, learnt, strict=True):
        expected = (raw / (var + 1e-8) ** 0.5).clamp(-0.5, 0.5)
        torch.testing.assert_close(scaled, expected)


def test_dict_observations_are_normalised_for_the_policy() -> None:
    with agent(env=lambda: Walk(observation="dict"), policy="multi-input") as made:
        made.learn(60)
        found = statistics(made)
        assert found["filter1.observation_count"][0] > 60
        assert len(found["filter1.mean"]) == 3 and (found["filter1.std"] != 1.0).all()


class Parts(Walk):
    """A walk whose observations have two Boxes, an image and a number."""

    def __init__(self) -> None:
        super().__init__(observation="dict")
        parts = dict(self.observation_space.spaces)  # type: ignore[attr-defined]
        parts["speed"] = gym.spaces.Box(-1e6, 1e6, (2,), np.float32)
        parts["picture"] = gym.spaces.Box(0, 255, (36, 36, 3), np.uint8)
        self.observation_space = gym.spaces.Dict(parts)

    def _observation(self) -> Any:
        speed = self.place[:2] + np.float32(5.0)
        picture = np.full((36, 36, 3), self.steps, np.uint8)
        return {**super()._observation(), "speed": speed, "picture": picture}


def test_only_the_keys_that_were_named_are_normalised() -> None:
    plugins = ['normalize:norm_obs_keys=["speed"]']
    with agent(env=Parts, policy="multi-input", plugins=plugins) as made:
        made.learn(60)
        assert len(statistics(made)["filter1.mean"]) == 2
        shown = {k: torch.as_tensor(part)[None] for k, part in Parts().reset()[0].items()}
        seen = made.run.policy.filter1(shown)
        assert not torch.equal(seen["speed"], shown["speed"])
        assert all(seen[key] is shown[key] for key in ("place", "room", "picture"))


@pytest.mark.parametrize(
    ("env", "keys", "message"),
    [
        (Parts, ["spead"], r"'spead'.*keys that are a Box.*place, speed"),
        (Parts, ["room"], r"'room'.*keys that are a Box.*place, speed"),
        (Parts, ["picture"], r"'picture'.*keys that are a Box.*place, speed"),
        (Walk, ["place"], r"Box\(\(3,\), float32\).*Leave norm_obs_keys out"),
    ],
)
def test_keys_that_cannot_be_normalised_are_refused(env: Any, keys: Any, message: str) -> None:
    policy = "multi-input" if env is Parts else "mlp"
    plugins = [f"normalize:norm_obs_keys={json.dumps(keys)}"]
    with pytest.raises(PlanError, match=message):
        agent(env=env, policy=policy, plugins=plugins)
