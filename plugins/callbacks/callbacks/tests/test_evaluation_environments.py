"""The environments that evaluations play in: which they are, and how long they are open."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest

import rlk
from rlk.errors import PlanError
from rlk.hookspecs import hookimpl
from rlk.one_process import OneProcess
from rlk.saving import saved_files
from rlk_callbacks import EvaluationCallback, StopOnNoImprovement
from rlk_callbacks.config import EvaluationConfig
from rlk_callbacks.history import HISTORY, read_history
from rlk_evaluation.evaluate import Evaluation
from rlk_testing.environments import Walk
from rlk_testing.stand_ins import stand_in_kernel

KERNEL = stand_in_kernel(discover=True)


class Pays(gym.Env[Any, Any]):
    """Episodes of one step, which pays the same whatever is done."""

    observation_space = gym.spaces.Box(-1.0, 1.0, (1,), np.float32)
    action_space = gym.spaces.Discrete(2)
    reward = 5.0

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        super().reset(seed=seed)
        return np.zeros(1, np.float32), {}

    def step(self, action: Any) -> Any:
        return np.zeros(1, np.float32), self.reward, True, False, {}


class PaysLess(Pays):
    reward = 1.0


class PaysWhatItIsTold(Pays):
    """Its reward is a keyword."""

    def __init__(self, reward: float = 1.0, bonus: float = 0.0) -> None:
        self.reward = reward + bonus


def made(*plugins: Any, **settings: Any) -> rlk.Agent:
    """A small agent whose iterations are 4 timesteps."""
    keywords = {"env": Pays, "seed": 3, "serializer": "zip", "n_threads": 1, **settings}
    return rlk.make("stand-in", kernel=KERNEL, plugins=list(plugins), **keywords)


class Sees:
    """Notes the vector of an evaluation when it has taken place, and the latest mean return."""

    def __init__(self, callback: EvaluationCallback) -> None:
        self.callback, self.envs, self.mean = callback, list[Any](), 0.0

    @hookimpl
    def rlk_evaluation_end(self, result: Evaluation) -> None:
        self.mean = result.mean_return
        if self.callback._env not in self.envs:
            self.envs.append(self.callback._env)


def every_4(**settings: Any) -> EvaluationCallback:
    return EvaluationCallback(EvaluationConfig(every=4, episodes=1, **settings))


def test_a_callback_of_one_call_of_learn_closes_its_environments_at_the_end_of_it() -> None:
    with made() as agent:
        open_before = len(agent.run.on_close)
        callback = every_4()
        seen = Sees(callback)
        for calls in (1, 2):
            agent.learn(8, callback=[callback, seen])
            assert len(seen.envs) == calls and all(env.closed for env in seen.envs)
        assert len(agent.run.on_close) == open_before


def test_it_closes_them_where_training_fails_too() -> None:
    class Fails:
        @hookimpl
        def rlk_rollout_start(self, run: Any) -> None:
            if run.timesteps == 8:
                raise RuntimeError("told to fail")

    seen = Sees(every_4())
    with made() as agent:
        with pytest.raises(RuntimeError, match="told to fail"):
            agent.learn(20, callback=[seen.callback, seen, Fails()])
        assert [env.closed for env in seen.envs] == [True]


def test_a_plugin_keeps_them_from_call_to_call() -> None:
    seen = Sees(every_4())
    with made(seen.callback, seen) as agent:
        for _ in range(2):
            agent.learn(8)
        assert [env.closed for env in seen.envs] == [False]
    assert seen.envs[0].closed


def test_a_vector_that_was_passed_stays_open() -> None:
    passed = gym.vector.SyncVectorEnv([Pays], autoreset_mode=gym.vector.AutoresetMode.SAME_STEP)
    seen = Sees(every_4(env=passed))
    with made() as agent:
        for _ in range(2):
            agent.learn(8, callback=[seen.callback, seen])
            assert seen.mean == 5.0
    assert not passed.closed
    passed.close()


def test_other_ranks_than_the_first_make_none_and_play_nothing() -> None:
    class SecondRank(OneProcess):
        rank = 1

    class Ranks:
        @hookimpl
        def rlk_make_communicator(self) -> Any:
            return SecondRank()

    seen = Sees(every_4())
    with made(seen.callback, seen, Ranks()) as agent:
        agent.learn(8)
        assert seen.envs == [] and seen.callback._env is None


def best(out: Path) -> tuple[str, int]:
    """Where the best model was trained, and for how long."""
    manifest = saved_files.read_manifest(out / "best_model.zip", KERNEL)
    return manifest["plan"]["env"]["name"], manifest["timesteps"]


@pytest.mark.parametrize("env", [None, True])
def test_after_set_env_evaluations_are_in_the_new_environment(tmp_path: Path, env: Any) -> None:
    seen = Sees(every_4(env=env))
    with made(seen.callback, seen, "no:checkpoint", out=str(tmp_path)) as agent:
        agent.learn(8)
        agent.set_env(PaysLess)
        agent.learn(8, reset_num_timesteps=False)
        assert seen.mean == 1.0
        assert [env.closed for env in seen.envs] == [True, False]
        assert best(tmp_path) == ("PaysLess", 16)
    assert [one.mean_return for one in read_history(tmp_path / HISTORY)] == [5.0, 5.0, 1.0, 1.0]


def test_an_object_that_it_could_not_play_in_is_refused_by_set_env() -> None:
    seen = Sees(every_4())
    with made(seen.callback, seen) as agent:
        with pytest.raises(PlanError, match=r"callback 'evaluation': .*no second one"):
            agent.set_env(PaysLess())
        agent.learn(4)
        assert seen.mean == 5.0


def test_a_callback_of_several_calls_follows_as_well() -> None:
    seen = Sees(every_4())
    with made() as agent:
        agent.learn(4, callback=[seen.callback, seen])
        agent.set_env(PaysLess)
        agent.learn(4, callback=[seen.callback, seen])
        assert seen.mean == seen.callback._best == 1.0


def test_within_a_call_it_follows_too_and_refuses_what_it_cannot_play_in() -> None:
    class Moves:
        @hookimpl
        def rlk_rollout_start(self, run: Any) -> None:
            if run.timesteps == 4:
                agent.set_env(to)

    with made() as agent:
        to: Any = PaysLess
        seen = Sees(every_4())
        agent.learn(8, callback=[seen.callback, seen, Moves()])
        assert seen.mean == 1.0
        to = PaysLess()
        with pytest.raises(PlanError, match=r"callback 'evaluation': .*no second one"):
            agent.learn(8, callback=[every_4(), Moves()])


def test_the_best_of_the_same_environment_counts_after_set_env() -> None:
    walk = "rlk_testing.environments:Walk"
    seen = Sees(every_4())
    with made(seen.callback, seen, env=walk) as agent:
        for again in (walk, Walk):
            agent.learn(4)
            seen.callback._best = 1e9  # higher than any return
            agent.set_env(again)
            agent.learn(4, reset_num_timesteps=False)
        assert seen.callback._best == 1e9


def test_an_environment_of_its_own_is_kept_after_set_env() -> None:
    seen = Sees(every_4(env=Pays))
    with made(seen.callback, seen) as agent:
        agent.learn(4)
        seen.callback._best = 1e9
        agent.set_env(PaysLess)
        agent.learn(4, reset_num_timesteps=False)
        assert seen.mean == 5.0
        assert len(seen.envs) == 1 and seen.callback._best == 1e9


def test_a_best_model_that_was_loaded_does_not_count_in_another_environment(
    tmp_path: Path,
) -> None:
    with made("evaluation:every=4", "checkpoint:every=4", out=str(tmp_path)) as agent:
        agent.learn(4)
    checkpoint = tmp_path / "checkpoints" / "4.zip"
    with rlk.load(checkpoint, env=Pays, out=str(tmp_path), kernel=KERNEL) as agent:
        agent.set_env(PaysLess)
        agent.learn(4, reset_num_timesteps=False)
    assert best(tmp_path) == ("PaysLess", 8)


def test_evaluations_without_improvement_are_counted_anew_in_another_environment() -> None:
    stops = StopOnNoImprovement(max_no_improvement_evals=1)
    with made("evaluation:every=4", stops) as agent:
        assert agent.learn(8).num_timesteps == 8
        agent.set_env(PaysLess)
        # The first of them is the best there; the second and the third are no better.
        assert agent.learn(40, reset_num_timesteps=False).num_timesteps == 8 + 12


@pytest.mark.parametrize(
    ("keywords", "mean"), [(None, 8.0), ({"bonus": 0.5}, 1.5), ({"reward": 3.0}, 3.0), ({}, 1.0)]
)
def test_the_environment_of_evaluations_has_keywords_of_its_own(keywords: Any, mean: float) -> None:
    seen = Sees(every_4(env_kwargs=keywords))
    own = {"env.reward": 7.0, "env.bonus": 1.0}
    with made(seen.callback, seen, env=PaysWhatItIsTold, **own) as agent:
        agent.learn(4)
        assert seen.mean == mean


def test_another_environment_of_evaluations_has_them_too() -> None:
    seen = Sees(every_4(env=PaysWhatItIsTold, env_kwargs={"reward": 2.0}))
    with made(seen.callback, seen) as agent:
        agent.learn(4)
        assert seen.mean == 2.0


def test_keywords_for_an_environment_that_is_made_already_are_refused() -> None:
    said = "'Pays' was passed as an object, which is made already: reward would have no effect"
    with pytest.raises(PlanError, match=said):
        made(every_4(env=Pays(), env_kwargs={"reward": 2.0}))
