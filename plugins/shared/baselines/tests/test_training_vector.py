"""What rlk's loop gets of a vector in a wrapper: seeds, ends of episodes and attributes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from rlk.errors import EnvironmentFailed
from rlk_baselines import A2C
from rlk_baselines.common.vec_env import DummyVecEnv, VecEnvWrapper
from rlk_baselines.environments.training_vector import training_vector
from rlk_testing.environments.given_spaces import NESTED, Given


class Plain(VecEnvWrapper):
    """Changes nothing, but tells of every step that it was cut off."""

    def reset(self) -> Any:
        return self.venv.reset()

    def step_wait(self) -> Any:
        *found, infos = self.venv.step_wait()
        told = [{"TimeLimit.truncated": True, **info} for info in infos]
        return *found, told


@pytest.mark.parametrize("wrap", [Plain, lambda vector: vector])
@pytest.mark.parametrize(
    ("is_seeded", "own", "expected"),
    [(True, None, [5, 6]), (False, None, None), (False, 7, [7, 8]), (True, 7, [5, 6])],
)
def test_a_seed_of_the_run_counts_only_if_the_model_has_one(
    counting: Any, wrap: Any, is_seeded: bool, own: int | None, expected: list[int] | None
) -> None:
    vector = wrap(DummyVecEnv([counting, counting]))
    if own is not None:
        vector.seed(own)
    training_vector(vector, is_seeded=is_seeded).reset(seed=[5, 6])
    first = [seeds[0] if seeds else None for seeds in vector.get_attr("seeds")]
    assert first == ([None, None] if expected is None else expected)


def test_an_episode_is_terminated_or_truncated_and_only_where_it_ended(counting: Any) -> None:
    envs = [lambda: counting(1, truncated=True), lambda: counting(1), lambda: counting(2)]
    vector = training_vector(Plain(DummyVecEnv(envs)), is_seeded=False)
    vector.reset()
    observation, rewards, terminated, truncated, infos = vector.step(np.zeros(3, int))
    assert (terminated.tolist(), truncated.tolist()) == ([False, True, False], [True, False, False])
    assert observation.tolist() == [[0, 7], [0, 7], [1, 7]] and rewards.tolist() == [1, 1, 1]
    assert [one.tolist() for one in infos["final_obs"][:2]] == [[1, 7], [1, 7]]


class Forgets(Plain):
    """Leaves the last observations of episodes out."""

    def step_wait(self) -> Any:
        *found, infos = self.venv.step_wait()
        for info in infos:
            info.pop("terminal_observation", None)
        return *found, infos


def test_only_an_episode_that_was_cut_off_needs_its_last_observation(counting: Any) -> None:
    vector = training_vector(Forgets(DummyVecEnv([lambda: counting(1)])), is_seeded=False)
    vector.reset()
    assert vector.step(np.zeros(1, int))[-1]["final_obs"][0].tolist() == [0, 7], "the next one"
    envs = [lambda: counting(1, truncated=True)]
    vector = training_vector(Forgets(DummyVecEnv(envs)), is_seeded=False)
    vector.reset()
    with pytest.raises(EnvironmentFailed, match="Forgets cut off the episode of environment 0"):
        vector.step(np.zeros(1, int))


def test_monitors_report_the_episodes_that_a_run_counts(counting: Any) -> None:
    report = {"r": 1.0, "l": 1}
    told = [{"worker_restarted": True}, {"goes_on": True}, {"episode": 5}, {"episode": report}]

    class Tells(Plain):
        def step_wait(self) -> Any:
            *found, infos = self.venv.step_wait()
            return *found, [info | own for info, own in zip(infos, told, strict=True)]

    envs = [lambda: counting(1)] * 4
    vector = training_vector(Tells(DummyVecEnv(envs)), is_seeded=False)
    vector.reset()
    for _ in range(2):
        vector.step(np.zeros(4, int))
        assert vector.reports == [{}, report]


def test_the_parts_of_a_nested_observation_each_lose_the_axis_of_the_vector() -> None:
    for space in NESTED:
        env = Given(None, space)
        vector = training_vector(Forgets(DummyVecEnv([lambda env=env: env])), is_seeded=False)
        vector.reset()
        infos = [vector.step(np.zeros(1, int))[-1] for _ in range(4)]
        assert space.contains(infos[-1]["final_obs"][0])


def test_a_list_of_values_has_one_for_each_environment(counting: Any) -> None:
    vector = training_vector(Plain(DummyVecEnv([counting, counting])), is_seeded=False)
    vector.set_attr("length", [4, 5])
    assert vector.get_attr("length") == (4, 5)
    vector.set_attr("length", 6)
    assert vector.get_attr("length") == (6, 6)


@pytest.mark.parametrize("wrap", [Plain, lambda vector: vector])
@pytest.mark.parametrize("counts_on", [False, True])
def test_an_episode_goes_on_in_a_call_of_learn_that_counts_on(
    counting: Any, wrap: Any, counts_on: bool
) -> None:
    vector = wrap(DummyVecEnv([lambda: counting(20)]))
    model = A2C("MlpPolicy", vector, n_steps=3).learn(3)
    model.learn(3, reset_num_timesteps=not counts_on)
    assert vector.get_attr("steps") == [6 if counts_on else 3]
