"""`evaluate_agent`: the same every time, in its own environments, and nothing of training moves."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.vector import AutoresetMode, SyncVectorEnv

import rlk
from rlk.errors import BrokenPlugin, PlanError, RlkError
from rlk_evaluation.evaluate import evaluate_agent
from rlk_testing.environments import Walk
from rlk_testing.stand_ins import stand_in_kernel

WALK = "rlk_testing.environments:Walk"
KERNEL = stand_in_kernel(discover=True)


def vector(env: gym.Env[Any, Any]) -> SyncVectorEnv:
    return SyncVectorEnv([lambda: env], autoreset_mode=AutoresetMode.SAME_STEP)


def made(**settings: Any) -> Any:
    return rlk.make(
        "stand-in", kernel=KERNEL, **{"env": WALK, "seed": 3, "n_threads": 1, **settings}
    )


def test_an_agent_is_evaluated_the_same_way_every_time() -> None:
    with made() as agent:
        once = evaluate_agent(agent, 4, deterministic=False)
        agent.learn(40)
        again = evaluate_agent(agent, 4, deterministic=False)
        others = [evaluate_agent(agent, 4, deterministic=False, seed=seed) for seed in (0, 8)]
    # The stand-in acts at random whatever it has learnt.
    assert once.returns == again.returns
    assert all(once.returns != other.returns for other in others)
    assert again.timesteps == 40


class Coin(gym.Env[Any, Any]):
    """100 tosses of a coin: a reward of 1 for each action that is the side that then falls."""

    observation_space = gym.spaces.Box(-1.0, 1.0, (1,))
    action_space = gym.spaces.Discrete(2)

    def reset(self, *, seed: Any = None, options: Any = None) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        self.steps = 0
        return np.zeros(1, np.float32), {}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        self.steps += 1
        won = np.argmax(self.np_random.random(2)) == action
        return np.zeros(1, np.float32), float(won), False, self.steps == 100, {}


@pytest.mark.parametrize("n_envs", [1, 2])
def test_sampled_actions_do_not_depend_on_what_the_environments_draw(n_envs: int) -> None:
    with rlk.make("ppo2", env=Coin, seed=3) as agent:
        result = evaluate_agent(agent, 10, n_envs=n_envs, seed=7, deterministic=False)
    assert 400 < sum(result.returns) < 600, "about half of 1,000 tosses"


def test_an_actor_that_returns_no_act_is_named() -> None:
    class Forgets:
        def start(self, n_envs: int) -> None: ...

        def metrics(self) -> dict[str, float]:
            return {}

        def act(self, *arguments: Any) -> None: ...

    with made() as agent:
        agent.run.algorithm.actor = lambda rng=None: Forgets()
        with pytest.raises(BrokenPlugin, match=r"^actor \S+Forgets: act\(\) returned None"):
            evaluate_agent(agent, 1)


def test_an_evaluation_leaves_training_as_it_was() -> None:
    parameters, streams = [], []
    for evaluates in (False, True):
        with made() as agent:
            agent.learn(20)
            if evaluates:
                evaluate_agent(agent, 3, n_envs=2, deterministic=False)
            agent.learn(20, reset_num_timesteps=False)
            parameters.append(agent.run.parameters.flat.tolist())
            streams.append(agent.run.streams.state_dict()["numpy"])
    assert parameters[0] == parameters[1]
    assert streams[0] == streams[1]


def test_its_episodes_are_not_those_of_training() -> None:
    with made() as agent:
        seeds = agent.run.streams.integers("environments", 1)
        env = vector(Walk())
        evaluate_agent(agent, 1, env=env)
        assert not env.closed
        assert env.envs[0].np_random_seed not in seeds


def test_a_finished_environment_object_needs_another_one() -> None:
    with made(env=Walk()) as agent, pytest.raises(RlkError, match="no second one"):
        evaluate_agent(agent, 1)


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        ({"episodes": 0}, "episodes must be at least 1, got 0"),
        ({"episodes": 2.5}, "episodes must be a whole number, got 2.5"),
        ({"n_envs": 0}, "n_envs must be at least 1, or none, got 0"),
        ({"n_envs": 1.5}, "n_envs must be int or none, got 1.5"),
        ({"seed": -1}, "seed must be at least 0, or none, got -1"),
    ],
)
def test_numbers_that_cannot_be_meant_are_refused_by_their_names(asked: Any, told: str) -> None:
    with made() as agent, pytest.raises(PlanError, match=f"^evaluate_agent: {told}"):
        evaluate_agent(agent, **asked)


def test_whole_numbers_may_be_floats_as_in_settings() -> None:
    with made() as agent:
        played: Any = {"episodes": 2.0, "n_envs": np.int64(2)}
        assert len(evaluate_agent(agent, **played).returns) == 2


@pytest.mark.parametrize("env", [WALK, Walk()])
def test_an_environment_that_is_no_vector_is_refused(env: Any) -> None:
    told = r"in a vector environment, got \w+\. Pass env=gymnasium\.vector\.SyncVectorEnv"
    with made() as agent, pytest.raises(PlanError, match=told):
        evaluate_agent(agent, 1, env=env)


@pytest.mark.parametrize("unused", [{"episode": 3}, {"n_envs": 1}, {"n_envs": 2, "wind": 1.0}])
def test_what_would_change_nothing_beside_an_environment_is_refused(unused: Any) -> None:
    told = f"does not use {', '.join(unused)} with env=…"
    with made() as agent, pytest.raises(PlanError, match=told):
        evaluate_agent(agent, 1, env=vector(Walk()), **unused)


def test_the_environments_that_it_made_are_closed_at_the_end() -> None:
    closed: list[Any] = []

    class NotesItsEnd(Walk):
        def close(self) -> None:
            closed.append(self)
            super().close()

    with made(env=NotesItsEnd) as agent:
        closed.clear()  # one was made to read its spaces
        evaluate_agent(agent, 2, n_envs=2)
        assert len(closed) == 2


def test_what_its_environments_give_does_not_count_in_the_statistics_of_training() -> None:
    with made(env=Walk, plugins=["normalize"]) as agent:
        agent.learn(20)
        normalizer = agent.run.hooks.get("normalize")

        def counts() -> dict[str, int]:
            return {name: part["count"] for name, part in normalizer.state_dict().items()}

        before = counts()
        evaluate_agent(agent, 3)
        assert counts() == before and before.keys() == {"observation", "returns"}
