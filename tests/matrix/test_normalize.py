"""`normalize` with every kind of algorithm: it resumes, evaluates and predicts as it trained."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
import torch

import rlk
from rlk.hookspecs import hookimpl
from rlk.running.seeding import Streams
from rlk.running.vec_env import make_vec_env
from rlk.saving import saved_files
from rlk_evaluation.evaluate import STREAM, Evaluation, evaluate_agent, evaluate_run

REPLAY = {"learning_starts": 40, "batch_size": 16, "train_freq": 4}
#: Algorithm -> settings with which it learns early.
ALGORITHMS: dict[str, dict[str, Any]] = {
    "ppo2": {"env": "CartPole-v1", "n_steps": 16, "n_envs": 2},
    "trpo": {"env": "Pendulum-v1", "timesteps_per_batch": 64, "n_envs": 2},
    "dqn": {"env": "CartPole-v1", **REPLAY},
    "sac": {"env": "Pendulum-v1", **REPLAY},
}


def made(algo: str, *plugins: Any, **settings: Any) -> rlk.Agent:
    keywords = {"seed": 5, "n_threads": 1, **ALGORITHMS[algo], **settings}
    return rlk.make(algo, plugins=["normalize", *plugins], **keywords)


def numbers(agent: rlk.Agent) -> dict[str, torch.Tensor]:
    """Parameters and statistics."""
    return {**agent.run.parameters.state_dict(), **dict(agent.run.policy.named_buffers())}


@pytest.mark.parametrize("algo", ALGORITHMS)
def test_a_resumed_run_is_the_uninterrupted_one(algo: str, tmp_path: Path) -> None:
    with made(algo) as agent:
        agent.learn(160)
        path = agent.save_checkpoint(tmp_path / "checkpoint")
        agent.learn(160, reset_num_timesteps=False)
        with rlk.load(path) as again:
            assert again.differs == []
            again.learn(160, reset_num_timesteps=False)
            expected = numbers(agent)
            assert any(name.startswith("filter") for name in expected)
            for name, found in numbers(again).items():
                assert torch.equal(found, expected[name]), name


@pytest.mark.parametrize("algo", ALGORITHMS)
def test_predict_takes_what_the_environment_gives(algo: str) -> None:
    with made(algo) as agent:
        agent.learn(160)
        statistics = agent.run.policy.filter1
        assert (statistics.std != 1.0).all()
        observation, _ = gym.make(ALGORITHMS[algo]["env"]).reset(seed=1)
        action, _ = agent.predict(observation, deterministic=True)
        # The same policy without the filter, given what users of Stable Baselines give it.
        normalised = (observation - statistics.mean.numpy()) / statistics.std.numpy()
        statistics.mean.zero_()
        statistics.std.fill_(1.0)
        expected, _ = agent.predict(normalised, deterministic=True)
        np.testing.assert_allclose(action, expected, rtol=1e-5)


@pytest.mark.parametrize("algo", ["ppo2", "sac"])
def test_an_evaluation_in_training_is_that_of_the_model_it_judged(
    algo: str, tmp_path: Path
) -> None:
    class Keeps:
        def __init__(self) -> None:
            self.kept: list[Evaluation] = []

        @hookimpl
        def rlk_evaluation_end(self, run: Any, result: Evaluation) -> None:
            saved_files.save(run, tmp_path / str(len(self.kept)))
            self.kept.append(result)

    keeps = Keeps()
    with made(algo, "evaluation:every=100,episodes=3,seed=11,n_envs=3", keeps) as agent:
        agent.learn(320)
    assert len(keeps.kept) >= 3
    for index, result in enumerate(keeps.kept):
        with rlk.load(tmp_path / str(index), plugins=(keeps,)) as again:
            env = make_vec_env(again.plan, again.run.hooks, 3, training=False)
            seeds = Streams(11).integers(f"{STREAM} at {result.timesteps}", 3)
            assert evaluate_run(again.run, env, 3, seeds=seeds).returns == result.returns
            env.close()
        # One reward is 1 in CartPole and at most 0 in Pendulum: these are unscaled rewards.
        whole = [float(length) for length in result.lengths]
        assert result.returns == whole if algo == "ppo2" else max(result.returns) < -50.0


def test_evaluating_twice_gives_the_same_and_leaves_training_alone() -> None:
    with made("ppo2") as one, made("ppo2") as two:
        one.learn(96)
        two.learn(96)
        first, second = evaluate_agent(one, 4, seed=3), evaluate_agent(one, 4, seed=3)
        assert first.returns == second.returns
        for agent in (one, two):
            agent.learn(96, reset_num_timesteps=False)
        expected = numbers(two)
        for name, found in numbers(one).items():
            assert torch.equal(found, expected[name]), name


class Reach(gym.Env[Any, Any]):
    """A point between 0 and 10 that must come near a goal; the observation is its position."""

    action_space = gym.spaces.Discrete(2)
    observation_space = gym.spaces.Dict(
        {
            key: gym.spaces.Box(0.0, 10.0, (1,), np.float32)
            for key in ("observation", "achieved_goal", "desired_goal")
        }
    )

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[Any, Any]:
        super().reset(seed=seed)
        self.at, self.goal = self.np_random.uniform(0.0, 10.0, (2, 1)).astype(np.float32)
        self.steps = 0
        return self._see(), {}

    def step(self, action: Any) -> Any:
        self.at = np.clip(self.at + np.float32(2 * action - 1), 0.0, 10.0)
        self.steps += 1
        reward = float(self.compute_reward(self.at, self.goal, {}))
        return self._see(), reward, False, self.steps == 8, {}

    def compute_reward(self, achieved: Any, desired: Any, info: Any) -> Any:
        return -(np.abs(achieved - desired)[..., 0] > 1.0).astype(np.float32)

    def _see(self) -> dict[str, Any]:
        at = self.at.copy()
        return {"observation": at, "achieved_goal": at, "desired_goal": self.goal.copy()}


def test_hindsight_compares_raw_goals_and_the_policy_sees_normalised_ones() -> None:
    class Watch:
        def __init__(self) -> None:
            self.raw, self.learnt = list[Any](), list[Any]()

        @hookimpl
        def rlk_wrap_update(self, run: Any) -> Any:
            sample = run.storage.sample

            def sampled(n: int) -> Any:
                batch = sample(n)
                self.raw.append((batch, float(run.policy.filter1.return_var[0])))
                return batch

            run.storage.sample = sampled

            def wrapper(update: Any) -> Any:
                def watched(batch: Any, optimise: Any) -> Any:
                    self.learnt.append(batch)
                    return update(batch, optimise)

                return watched

            return wrapper

    watch = Watch()
    keywords = {
        **ALGORITHMS["dqn"],
        "train_freq": 1,
        "env": Reach,
        "policy": "multi-input",
        "seed": 2,
        "n_threads": 1,
    }
    with rlk.make("dqn", plugins=["hindsight-replay", "normalize", watch], **keywords) as agent:
        agent.learn(160)
        policy = agent.run.policy
    assert len(watch.raw) == len(watch.learnt) > 50
    for (batch, var), learnt in zip(watch.raw, watch.learnt, strict=True):
        goal, achieved = (batch.next_observation[k] for k in ("desired_goal", "achieved_goal"))
        reward = -((achieved - goal).abs()[:, 0] > 1.0).float()
        assert torch.equal(batch.reward, reward), "rewards of raw goals"
        torch.testing.assert_close(learnt.reward, reward / (var + 1e-8) ** 0.5)
    prepared = policy.preprocess(batch.observation)["desired_goal"]
    assert prepared.min() < 0.0 < prepared.max() and batch.observation["desired_goal"].min() >= 0.0
