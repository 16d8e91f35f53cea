"""What DummyVecEnv promises, one sentence at a time."""

from __future__ import annotations

import functools

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.vector import AutoresetMode, VectorEnv

from rlk.errors import EnvironmentFailed, PlanError
from rlk_testing.tools.states import same
from rlk_vector_environments.env_state import Unsupported


def cartpole():
    return gym.make("CartPole-v1")


class Counter(gym.Env):
    """Observes the number of steps; the episode ends after `length` of them, the reward is 0.1."""

    observation_space = gym.spaces.Box(0.0, 100.0, (1,), np.float32)
    action_space = gym.spaces.Discrete(10)

    def __init__(self, length=3, ends="terminated"):
        self.length = length
        self.ends = ends
        self.observed = np.zeros(1, np.float32)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.observed[0] = 0.0
        return self.observed, {"at": "reset"}

    def step(self, action):
        if action == 9:
            raise ZeroDivisionError("nine")
        if action == 8:
            return np.zeros(3, np.float32), 0.0, False, False, {}
        self.observed[0] += 1
        over = self.observed[0] == self.length
        flags = (over, False) if self.ends == "terminated" else (False, over)
        return self.observed, 0.1, *flags, {"at": f"step {self.observed[0]:.0f}"}


ZEROS = np.zeros(2, np.int64)


def test_it_is_a_gymnasium_vector_environment_that_restarts_in_the_same_step(make):
    of_one = dict(cartpole().metadata)
    vector = make([cartpole, cartpole])
    assert isinstance(vector, VectorEnv)
    assert vector.metadata["autoreset_mode"] is AutoresetMode.SAME_STEP
    assert vector.num_envs == 2
    assert vector.single_action_space == gym.spaces.Discrete(2)
    assert vector.action_space.shape == (2,)
    assert vector.observation_space.shape == (2, 4)
    assert cartpole().metadata == of_one


def test_a_sample_of_its_spaces_draws_nothing_from_those_of_an_environment(make):
    vector, env = make([cartpole]), cartpole()
    for one in (vector.envs[0], env):
        one.action_space.seed(1)
    vector.single_action_space.sample()
    drawn = [[one.action_space.sample() for _ in range(20)] for one in (vector.envs[0], env)]
    assert drawn[0] == drawn[1]


def test_where_an_episode_ends_the_next_begins_and_the_end_is_in_the_infos(make):
    vector = make([Counter, lambda: Counter(2, "truncated")])
    vector.reset(seed=0)
    assert vector.step(ZEROS)[4] == {}
    observation, reward, terminated, truncated, infos = vector.step(ZEROS)
    assert observation.tolist() == [[2.0], [0.0]]
    assert reward.tolist() == [np.float32(0.1), np.float32(0.1)]
    assert terminated.tolist() == [False, False]
    assert truncated.tolist() == [False, True]
    assert infos["final_obs"][0] is None
    assert infos["final_obs"][1].tolist() == [2.0]
    assert infos["_final_obs"].tolist() == [False, True]
    assert infos["final_info"]["at"].tolist() == [None, "step 2"]
    assert infos["final_info"]["_at"].tolist() == [False, True]
    assert set(infos) == {"final_obs", "_final_obs", "final_info", "_final_info"}
    observation, _, terminated, truncated, infos = vector.step(ZEROS)
    assert observation.tolist() == [[0.0], [1.0]]
    assert terminated.tolist() == [True, False]
    assert infos["final_obs"][0].tolist() == [3.0]
    assert vector.step(ZEROS)[4].keys() == infos.keys()


def test_a_final_observation_is_a_copy_though_the_environment_reuses_its_array(make):
    vector = make([lambda: Counter(1)])
    vector.reset()
    finals = [vector.step(ZEROS[:1])[4]["final_obs"][0] for _ in range(2)]
    assert [final.tolist() for final in finals] == [[1.0], [1.0]]
    assert finals[0] is not finals[1]


def test_what_a_step_returns_stays_during_the_next_step_and_no_longer(make):
    vector = make([Counter])
    first, _ = vector.reset()
    second = vector.step(ZEROS[:1])
    assert (first.tolist(), second[0].tolist()) == ([[0.0]], [[1.0]])
    third = vector.step(ZEROS[:1])
    assert second[0].tolist() == [[1.0]]
    assert not np.shares_memory(second[0], third[0])
    assert first is third[0]
    last = vector.step(ZEROS[:1])
    assert third[2].tolist() == [False] and last[2].tolist() == [True]


def test_all_infos_are_gathered_if_asked_for(make):
    vector = make([Counter, lambda: Counter(2)], info_keys=None)
    _, infos = vector.reset()
    assert infos["at"].tolist() == ["reset", "reset"]
    infos = vector.step(ZEROS)[4]
    assert infos["at"].tolist() == ["step 1", "step 1"]
    assert infos["_at"].tolist() == [True, True]
    infos = vector.step(ZEROS)[4]
    assert infos["at"].tolist() == ["step 2", "reset"]
    assert infos["final_info"]["at"].tolist() == [None, "step 2"]
    assert make([Counter]).reset()[1] == {}


class Numbered(Counter):
    def step(self, action):
        *result, info = super().step(action)
        return *result, {**info, "square": float(result[0][0] ** 2)}


def test_infos_that_are_kept_are_those_of_the_step_also_at_an_end(make):
    vector = make([Numbered, lambda: Numbered(2)], info_keys=("square",))
    assert vector.reset()[1] == {}
    assert set(vector.step(ZEROS)[4]) == {"kept"}
    infos = vector.step(ZEROS)[4]
    assert infos["_final_obs"].tolist() == [False, True]
    assert infos["kept"]["info.square"].tolist() == [4.0, 4.0]
    missing = make([Numbered, Counter], info_keys=("square",))
    missing.reset()
    np.testing.assert_array_equal(missing.step(ZEROS)[4]["kept"]["info.square"], [1.0, np.nan])


def test_a_number_seeds_the_environments_one_after_the_other_and_a_list_each_by_itself(make, zoo):
    vector = make([zoo.Everything] * 3)
    vector.reset(seed=7)
    vector.reset(seed=[3, None, np.int64(1)])
    vector.reset(options={"level": 2})
    assert [env.seeds for env in vector.envs] == [[7, 3, None], [8, None, None], [9, 1, None]]
    assert [env.options for env in vector.envs] == [[None, None, {"level": 2}]] * 3
    with pytest.raises(ValueError, match="a seed for each environment, 3 in all; got 2"):
        vector.reset(seed=[1, 2])


def test_automatic_resets_do_not_seed(make, zoo):
    vector = make([zoo.Everything])
    zoo.play(vector, 60)
    assert len(vector.envs[0].seeds) > 5
    assert set(vector.envs[0].seeds[1:]) == {None}


def test_a_mask_resets_only_some_and_keeps_the_others_observations(make):
    vector = make([Counter, Counter])
    vector.reset()
    vector.step(ZEROS)
    options = {"reset_mask": np.array([False, True]), "level": 1}
    observation, _ = vector.reset(options=options)
    assert observation.tolist() == [[1.0], [0.0]]
    assert "reset_mask" in options
    for wrong in (np.array([1, 0]), np.array([True]), np.array([False, False])):
        with pytest.raises(ValueError, match="reset_mask"):
            vector.reset(options={"reset_mask": wrong})


def test_an_environment_may_keep_the_action_it_was_given(make, zoo):
    vector = make([functools.partial(zoo.Everything, "box", "box")] * 2)
    vector.reset(seed=0)
    given = np.zeros((2, 3), np.float32)
    for value in (0.5, 1.5):
        given[:] = value
        vector.step(given)
    assert [kept.tolist() for kept in vector.envs[1].kept] == [[0.5] * 3, [1.5] * 3]


def test_actions_are_cast_to_the_space_and_refused_where_that_loses_something(make, zoo):
    vector = make([functools.partial(zoo.Everything, "box", "box")] * 2)
    vector.reset(seed=0)
    vector.step([[1, 1, 1], [2, 2, 2]])
    assert vector.envs[1].kept[0].dtype == np.float32
    vector.step(np.ones((2, 3), np.float64))
    for wrong in (np.ones(3), np.ones((1, 3)), np.ones((2, 1)), 1.0):
        with pytest.raises(ValueError, match="shape"):
            vector.step(wrong)
    discrete = make([Counter, Counter])
    discrete.reset()
    with pytest.raises(TypeError):
        discrete.step(np.array([0.0, 1.0]))
    discrete.step(np.array([0, 1], np.uint8))


def test_an_environment_that_raises_is_named_with_its_traceback(make):
    vector = make([Counter, Counter])
    vector.reset()
    message = r"environment 1 failed in step: ZeroDivisionError: nine\n(?s:.*)in step\n.*nine"
    with pytest.raises(EnvironmentFailed, match=message) as caught:
        vector.step(np.array([0, 9]))
    assert isinstance(caught.value.__cause__, ZeroDivisionError)
    assert vector.reset()[0].tolist() == [[0.0], [0.0]]
    assert vector.step(ZEROS)[0].tolist() == [[1.0], [1.0]]


def test_an_observation_of_another_shape_is_the_environments_failure(make):
    vector = make([Counter, Counter])
    vector.reset()
    with pytest.raises(EnvironmentFailed, match=r"0 \(Counter\) gave a wrong observation"):
        vector.step(np.array([8, 0]))

    class Narrow(Counter):
        def reset(self, *, seed=None, options=None):
            return np.float32(0.0), {}

    with pytest.raises(EnvironmentFailed, match=r"1 \(Narrow\) .* in reset: .*shape \(\)"):
        make([Counter, Narrow]).reset()


def test_an_environment_that_cannot_be_made_is_named_and_the_others_are_closed(make, zoo):
    made = []

    def make_one():
        made.append(zoo.Everything())
        return made[-1]

    def fail():
        raise RuntimeError("no licence")

    with pytest.raises(EnvironmentFailed, match=r"environment 1 failed when it was made.*licence"):
        make([make_one, fail, make_one])
    assert [env.was_closed for env in made] == [True]


def test_what_closing_the_others_raises_does_not_hide_which_one_cannot_be_made(make):
    class Stuck(Counter):
        def close(self):
            raise OSError("stuck")

    def fail():
        raise RuntimeError("no licence")

    with pytest.raises(EnvironmentFailed, match=r"environment 1 failed.*licence") as failed:
        make([Stuck, fail])
    assert "environment 0 failed in close: OSError: stuck" in failed.value.__notes__[0]


def test_a_refusal_that_says_what_to_type_passes_as_it_is(make):
    def refuse():
        raise PlanError("environment 'X' is not installed. pip install x")

    with pytest.raises(PlanError, match=r"^environment 'X' is not installed"):
        make([refuse])


def test_environments_must_be_different_objects_with_equal_spaces(make, zoo):
    one = zoo.Everything()
    with pytest.raises(EnvironmentFailed, match="environments 0 and 1 are one and the same"):
        make([lambda: one, lambda: gym.wrappers.TimeLimit(one, 5)])
    with pytest.raises(EnvironmentFailed, match="environment 1 has the action_space"):
        make([zoo.Everything, functools.partial(zoo.Everything, "box", "box")])
    with pytest.raises(EnvironmentFailed, match="environment 1 has the observation_space"):
        make([zoo.Everything, functools.partial(zoo.Everything, "image")])
    with pytest.raises(ValueError, match="at least one"):
        make([])


def test_a_space_without_a_fixed_shape_is_refused_with_what_to_do(make):
    class Chat(Counter):
        observation_space = gym.spaces.Dict(words=gym.spaces.Text(10))

    with pytest.raises(PlanError, match=r"Text\(.*Wrap the environment"):
        make([Chat])


def test_a_step_is_begun_once_and_taken_once(make):
    vector = make([Counter])
    vector.reset()
    with pytest.raises(gym.error.NoAsyncCallError):
        vector.step_wait()
    vector.step_async(ZEROS[:1])
    with pytest.raises(gym.error.AlreadyPendingCallError):
        vector.step_async(ZEROS[:1])
    assert vector.step_wait()[0].tolist() == [[1.0]]
    vector.step_async(ZEROS[:1])
    assert vector.reset()[0].tolist() == [[0.0]]
    assert vector.step(ZEROS[:1])[0].tolist() == [[1.0]]


def test_adding_to_a_returned_dict_does_not_reach_later_ones(make, zoo):
    vector = make([functools.partial(zoo.Everything, "dict")])
    observation, _ = vector.reset(seed=0)
    observation["mine"] = 1
    del observation["inner"]["flags"]
    for _ in range(2):
        later = vector.step(np.array([0]))[0]
        assert set(later) == {"image", "inner", "pair"} and "flags" in later["inner"]


def test_a_state_put_back_goes_on_the_same(make, zoo):
    vector, other = (make([cartpole] * 3) for _ in range(2))
    zoo.play(vector, 57)
    other.set_state(vector.get_state())
    actions = np.random.default_rng(0).integers(0, 2, (300, 3))
    for action in actions:
        assert same(vector.step(action), other.step(action))


def test_an_error_after_a_state_was_put_back_does_not_name_the_seed_of_before(make):
    vector = make([cartpole, cartpole])
    vector.reset(seed=9999)
    vector.set_state(vector.get_state())
    vector.envs[1].unwrapped.state = None
    with pytest.raises(EnvironmentFailed, match="so its seed is not known here") as failed:
        vector.step(ZEROS)
    assert "9999" not in str(failed.value) and "10000" not in str(failed.value)


def test_a_state_that_cannot_be_had_is_none_and_one_that_does_not_fit_is_refused(make):
    class Engine(Counter):
        def __init__(self):
            super().__init__()
            self.engine = object()

    vector = make([Engine, Counter])
    assert [state is None for state in vector.get_state()] == [True, False]
    with pytest.raises(Unsupported):
        make([cartpole]).set_state(make([Counter]).get_state())
    with pytest.raises(ValueError, match="a value for each environment, 1 in all; got 2"):
        make([cartpole]).set_state(vector.get_state())
