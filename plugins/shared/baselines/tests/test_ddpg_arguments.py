"""Arguments that only DDPG has: its memory, evaluations and parameter noise."""

from __future__ import annotations

import warnings
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from rlk_adaptive_parameter_noise.adaptation import Adaptation
from rlk_baselines import DDPG, HER, gym, logger
from rlk_baselines.common.bit_flipping_env import BitFlippingEnv
from rlk_baselines.common.buffers import PrioritizedReplayBuffer, ReplayBuffer
from rlk_baselines.common.noise import (
    AdaptiveParamNoiseSpec,
    NormalActionNoise,
    OrnsteinUhlenbeckActionNoise,
)
from rlk_baselines.common.vec_env import DummyVecEnv, VecNormalize
from rlk_baselines.ddpg.evaluations import Evaluations
from rlk_baselines.environments.as_vec_env import as_vec_env
from rlk_baselines.her import HERGoalEnvWrapper

SHORT = {"nb_rollout_steps": 50, "nb_train_steps": 2, "batch_size": 16, "n_cpu_tf_sess": 1}


def made(env: Any = "Pendulum-v1", **keywords: Any) -> DDPG:
    return DDPG("MlpPolicy", env, seed=0, **{**SHORT, **keywords})


class Played:
    """Counts its steps, each with a reward of 2; an episode has seven steps."""

    def __init__(self, like: Any) -> None:
        self.observation_space, self.action_space = like.observation_space, like.action_space
        self.steps, self.shown = 0, 0
        self.actions: list[Any] = []

    def reset(self) -> Any:
        return np.zeros(self.observation_space.shape, np.float32)

    def step(self, action: Any) -> Any:
        self.steps += 1
        self.actions.append(action)
        return self.reset(), 2.0, self.steps % 7 == 0, {}

    def render(self, mode: str = "human") -> None:
        self.shown += 1


def test_a_class_of_buffers_is_the_storage_that_it_stands_for() -> None:
    def names(memory: Any) -> list[str]:
        return [one.name for one in made(memory_policy=memory).agent.plan.storages]

    assert names(ReplayBuffer) == ["replay"]
    assert names(PrioritizedReplayBuffer) == ["replay", "prioritized-replay"]

    class Own(ReplayBuffer):
        """A custom class, which would not be called."""

    with pytest.raises(ValueError, match="memory_policy is Own; it is ReplayBuffer or Prioritized"):
        made(memory_policy=Own)


def test_another_class_of_buffers_takes_the_place_of_the_first(tmp_path: Any) -> None:
    def names(model: Any) -> list[str]:
        return [one.name for one in model.agent.plan.storages]

    model = made(memory_policy=PrioritizedReplayBuffer)
    model.save(tmp_path / "model")
    assert names(DDPG.load(tmp_path / "model")) == ["replay", "prioritized-replay"]
    assert names(DDPG.load(tmp_path / "model", memory_policy=ReplayBuffer)) == ["replay"]
    for _ in range(2):
        model.learn(50)
        model.memory_policy = ReplayBuffer
        assert names(model) == ["replay"]
        model.learn(50, reset_num_timesteps=False)
        assert len(model.replay_buffer) >= 100, "which keeps what it holds"
        model.memory_policy = PrioritizedReplayBuffer
        assert names(model) == ["replay", "prioritized-replay"]


def test_an_older_name_sets_the_size_of_the_replay(tmp_path: Any) -> None:
    with pytest.warns(DeprecationWarning, match="memory_limit is deprecated: use buffer_size"):
        model = made(memory_limit=150)
    assert model.buffer_size == model.replay_buffer.buffer_size == 150
    model.learn(100)
    assert not model.replay_buffer.is_full()
    model.learn(100)
    assert model.replay_buffer.is_full()
    assert len(model.replay_buffer) == 150
    model.save(tmp_path / "model")
    with warnings.catch_warnings(action="error"):
        assert DDPG.load(tmp_path / "model").buffer_size == 150
    assert DDPG.load(tmp_path / "model", buffer_size=400).replay_buffer.buffer_size == 400
    for given in ({"memory_limit": 400}, {"memory_limit": 300, "buffer_size": 400}):
        with pytest.warns(DeprecationWarning, match="memory_limit is deprecated: use buffer_size"):
            loaded = DDPG.load(tmp_path / "model", **given)
        assert loaded.buffer_size == loaded.replay_buffer.buffer_size == 400
    with pytest.warns(DeprecationWarning, match="memory_limit is deprecated: use buffer_size"):
        loaded.memory_limit = 500
    assert loaded.buffer_size == loaded.replay_buffer.buffer_size == 500


def test_so_many_steps_are_evaluated_after_every_collection() -> None:
    evaluated = Played(made().env)
    model = made(eval_env=evaluated, nb_eval_steps=10, action_noise=NormalActionNoise(0.0, 0.5))
    model.learn(50)
    assert evaluated.steps == 10
    assert len({float(np.ravel(one)[0]) for one in evaluated.actions}) == 1, "there is no noise"
    model.learn(100, reset_num_timesteps=False)
    assert (evaluated.steps, evaluated.shown) == (30, 0)


def test_rows_have_the_returns_of_evaluations(tmp_path: Any) -> None:
    evaluated = Played(made().env)
    model = made(eval_env=evaluated, nb_eval_steps=10, render_eval=True)
    logger.configure(str(tmp_path), ["csv"])
    try:
        model.learn(200, log_interval=1)
    finally:
        logger.reset()
    row = logger.read_csv(tmp_path / "progress.csv").iloc[-1]
    # The last ten of 40 steps, in which the fifth episode of seven steps ends.
    assert (row["eval/return"], row["eval/return_history"], row["eval/episodes"]) == (14.0, 14.0, 1)
    assert row["total/episodes"] == 1, "that of training, after 200 steps"
    assert evaluated.shown == evaluated.steps == 40


@pytest.mark.parametrize("rank", [0, 1])
def test_episodes_continue_from_one_evaluation_to_the_next(counting: Any, rank: int) -> None:
    told: list[tuple[str, float]] = []
    model: Any = SimpleNamespace(predict=lambda seen: (np.zeros(len(seen), int), None))
    ranks = SimpleNamespace(rank=rank)
    metrics = SimpleNamespace(set=lambda name, value: told.append((name, value)))
    run: Any = SimpleNamespace(communicator=ranks, metrics=metrics)

    class Growing(counting):  # type: ignore[misc]
        """Its first episode has rewards of 1, its second of 2, and so on."""

        begun = 0

        def reset(self) -> Any:
            self.begun += 1
            self.reward = float(self.begun)
            return super().reset()

    evaluations = Evaluations(model, as_vec_env(Growing()), 4, render=False)
    for _ in range(2):  # four and eight steps: one end, of returns of 3, and another, of 6
        evaluations.rlk_update_end(run)
    names = ("eval/return", "eval/return_history", "eval/episodes")
    expected = [*zip(names, (3.0, 3.0, 1), strict=True), *zip(names, (6.0, 4.5, 1), strict=True)]
    assert told == (expected if rank == 0 else [])
    few = Evaluations(model, as_vec_env(Growing()), 2, render=False)
    told.clear()
    few.rlk_update_end(run)
    assert told == [], "no episode ended"


def test_the_agent_of_a_model_keeps_the_interval_of_its_rows() -> None:
    model = made()
    model.learn(50, log_interval=7)
    assert model.agent.run.plan.log_interval == 7


def test_what_belongs_to_evaluations_has_no_effect_without_them() -> None:
    with pytest.warns(UserWarning, match=r"nb_eval_steps=7 has no effect without eval_env=…"):
        made(nb_eval_steps=7)


def test_a_model_of_her_is_evaluated_too() -> None:
    env, other = (BitFlippingEnv(3, continuous=True, max_steps=3) for _ in range(2))
    steps: list[Any] = []
    step = other.step
    other.step = lambda action: (steps.append(action), step(action))[1]  # type: ignore[method-assign]
    keywords = {**SHORT, "eval_env": HERGoalEnvWrapper(other), "nb_eval_steps": 8}
    HER("MlpPolicy", env, DDPG, seed=0, **keywords).learn(50)
    assert len(steps) == 8


def test_an_environment_for_evaluations_must_have_the_spaces_of_the_model(tmp_path: Any) -> None:
    other = "MountainCarContinuous-v0"
    with pytest.raises(
        ValueError, match=r"observation_space of environment 'eval_env' is .*\(2,\)"
    ):
        made(eval_env=other)
    made().save(tmp_path / "model")
    with pytest.raises(ValueError, match="observation_space of environment 'eval_env'"):
        DDPG.load(tmp_path / "model", eval_env=other)
    DDPG.load(tmp_path / "model", eval_env="Pendulum-v1")
    goals = [BitFlippingEnv(n, continuous=True) for n in (3, 4)]
    for env in (goals[1], HERGoalEnvWrapper(goals[1])):
        with pytest.raises(ValueError, match="observation_space of environment 'eval_env'"):
            HER("MlpPolicy", goals[0], DDPG, eval_env=env)
    HER("MlpPolicy", goals[0], DDPG, eval_env=goals[0])


@pytest.mark.parametrize(
    "space", [gym.spaces.Box(-9.0, 9.0, (3,), np.float64), gym.spaces.Box(-np.inf, np.inf, (3,))]
)
def test_its_observations_may_have_another_dtype_and_other_bounds(space: Any) -> None:
    evaluated = Played(made().env)
    evaluated.observation_space = space
    made(eval_env=evaluated, nb_eval_steps=10).learn(50)
    assert evaluated.steps == 10


def test_its_actions_are_those_of_the_model() -> None:
    evaluated = Played(made().env)
    evaluated.action_space = gym.spaces.Box(-1.0, 1.0, (1,), np.float32)
    with pytest.raises(ValueError, match=r"action_space of environment 'eval_env' is Box\(-1.0"):
        made(eval_env=evaluated)


def test_so_many_steps_of_evaluation_are_a_whole_number() -> None:
    with pytest.raises(ValueError, match=r"nb_eval_steps must be a whole number, got 2\.5"):
        made(nb_eval_steps=2.5)
    model = made(eval_env="Pendulum-v1")
    model.nb_eval_steps = -1
    with pytest.raises(ValueError, match="nb_eval_steps must be a whole number of at least 0"):
        model.learn(50)
    assert model.nb_eval_steps == 100


def test_noise_on_parameters_is_measured_on_what_the_policy_takes(monkeypatch: Any) -> None:
    class Far(Played):
        def reset(self) -> Any:
            return np.full(self.observation_space.shape, 1000.0 + self.steps % 7, np.float32)

    measured: list[float] = []
    adapt = Adaptation.adapt

    def adapting(self: Any, stddev: float, observation: Any, n: int) -> tuple[float, float]:
        measured.append(float(np.abs(observation).max()))
        return adapt(self, stddev, observation, n)

    monkeypatch.setattr(Adaptation, "adapt", adapting)
    like = Played(gym.make("Pendulum-v1"))
    like.observation_space = gym.spaces.Box(-np.inf, np.inf, (3,), np.float32)
    env = VecNormalize(DummyVecEnv([lambda: Far(like)]))
    noise = AdaptiveParamNoiseSpec()
    made(env, param_noise=noise, param_noise_adaption_interval=1).learn(200)
    assert measured and max(measured) < 10


@pytest.mark.parametrize("by_hindsight", [False, True])
def test_the_object_shows_how_strong_the_noise_on_parameters_is(
    by_hindsight: bool, tmp_path: Any
) -> None:
    noise, seen = AdaptiveParamNoiseSpec(0.3, desired_action_stddev=0.01), []
    keywords = {**SHORT, "param_noise": noise, "param_noise_adaption_interval": 1, "seed": 0}
    env: Any = BitFlippingEnv(3, continuous=True, max_steps=3) if by_hindsight else "Pendulum-v1"
    kind: Any = HER if by_hindsight else DDPG
    model = kind("MlpPolicy", env, *([DDPG] if by_hindsight else []), **keywords)
    assert noise.get_stats() == {"param_noise_stddev": 0.3}

    def callback(local: Any, _: Any) -> None:
        (of_run,) = local["self"].agent.run.noises.values()
        assert local["self"].param_noise.current_stddev == of_run.actor.latest["stddev"]
        seen.append(noise.current_stddev)

    model.learn(150, callback)
    assert seen[:50] == [0.3] * 50 and len({*seen}) == 3
    model.save(tmp_path / "model")
    assert kind.load(tmp_path / "model", env=env).param_noise.current_stddev == seen[-1]


@pytest.mark.parametrize(
    "noise",
    [
        NormalActionNoise(0.1, 0.3),
        OrnsteinUhlenbeckActionNoise(
            np.array([0.1]), 0.3, theta=0.2, initial_noise=np.array([1.0])
        ),
    ],
)
def test_a_loaded_model_has_its_noise_as_an_object(noise: Any, tmp_path: Any) -> None:
    made(action_noise=noise).save(tmp_path / "model")
    found = DDPG.load(tmp_path / "model").action_noise
    found.reset()
    assert type(found) is type(noise)
    assert found.as_setting() == noise.as_setting()


def test_statistics_of_observations_cannot_come_or_go_when_a_model_is_loaded(tmp_path) -> None:
    for normalizes in (True, False):
        model = DDPG("MlpPolicy", "Pendulum-v1", normalize_observations=normalizes)
        model.save(tmp_path / "model")
        with pytest.raises(ValueError, match=f"made with normalize_observations={normalizes}"):
            DDPG.load(tmp_path / "model", normalize_observations=not normalizes)
        DDPG.load(tmp_path / "model", normalize_observations=normalizes)
