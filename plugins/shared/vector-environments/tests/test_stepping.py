"""A group of environments that begins in the middle of a vector."""

from __future__ import annotations

import pickle
import sys

import gymnasium as gym
import numpy as np
import pytest

from rlk.errors import EnvironmentFailed
from rlk.registry.discovery import Point
from rlk_vector_environments import failures, making, rows, step_arrays, stepping
from rlk_vector_environments.failures import EnvironmentRaised, WrongResult
from rlk_vector_environments.result_checks import check_reset, check_step
from rlk_vector_environments.stepping import CHECKED_STEPS, EnvironmentGroup, close_all, place_of
from rlk_vector_environments.worker_side import reply


class Counter(gym.Env):
    """Observes how many steps the episode has had; the action is the length of the episode."""

    observation_space = gym.spaces.Box(-1.0, 100.0, (1,))
    action_space = gym.spaces.Discrete(10)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.time = 0
        return np.array([0.0], np.float32), {"seed": seed}

    def step(self, action):
        self.time += 1
        if action == 9:
            raise RuntimeError("nine")
        observation = np.array([self.time], np.float32)
        return observation, 0.5, self.time == action, False, {"time": self.time}

    def close(self):
        if self.time == 1:
            raise OSError("stuck")


def group(n=3, info_keys=()):
    envs = list(making.make_environments([Counter] * n, start=4))
    spaces = Counter.observation_space, Counter.action_space
    arrays = step_arrays.allocate(*spaces, n + 4, info_keys)
    return EnvironmentGroup(envs, arrays.part(4, 4 + n), start=4, info_keys=info_keys), arrays


class Foreign(Counter):
    """Its observations and actions have the bytes of their numbers in the other order."""

    OTHER = np.dtype(np.float32).newbyteorder()
    observation_space = gym.spaces.Box(-1.0, 100.0, (1,), OTHER)
    action_space = gym.spaces.Box(-1.0, 9.0, (1,), OTHER)

    def reset(self, *, seed=None, options=None):
        observation, info = super().reset(seed=seed)
        return observation.astype(self.OTHER), info

    def step(self, action):
        assert self.action_space.contains(action)
        observation, *rest = super().step(action[0])
        return observation.astype(self.OTHER), *rest


def test_the_bytes_of_all_arrays_are_in_the_order_of_this_machine():
    arrays = step_arrays.allocate(Foreign.observation_space, Foreign.action_space, 1)
    foreign = EnvironmentGroup(list(making.make_environments([Foreign])), arrays)
    foreign.reset(0, {0: None}, None)
    arrays.actions[...] = 1
    foreign.step(1)
    for array in (arrays.slots[0].observation, arrays.slots[1].observation, arrays.final):
        assert array.dtype.isnative and array.dtype == np.float32
    assert arrays.actions.dtype.isnative
    assert arrays.final.tolist() == [[1.0]]


def test_it_writes_its_own_rows_and_counts_as_the_vector_does():
    of_three, arrays = group(info_keys=("time",))
    assert of_three.reset(0, {4: 1, 5: 2, 6: 3}, None) == []
    arrays.actions[4:] = 5, 1, 5
    assert of_three.step(1) == ([(5, {"time": 1})], [])
    (kept,) = arrays.slots[1].kept.items()
    assert kept[0] == "info.time" and kept[1].dtype == np.float32
    assert kept[1].tolist() == [0, 0, 0, 0, 1, 1, 1]
    assert arrays.slots[1].observation.ravel().tolist() == [0, 0, 0, 0, 1, 0, 1]
    assert arrays.slots[1].reward.tolist() == [0, 0, 0, 0, 0.5, 0.5, 0.5]
    assert np.flatnonzero(arrays.slots[1].terminated).tolist() == [5]
    assert arrays.final[5].tolist() == [1.0]


def test_whole_infos_are_those_of_the_reset_where_an_episode_ended():
    of_three, arrays = group(info_keys=None)
    assert of_three.reset(0, {5: 7}, None) == [(5, {"seed": 7})]
    of_three.reset(0, {4: 1, 6: 1}, None)
    arrays.actions[4:] = 5, 1, 5
    _, infos = of_three.step(0)
    assert infos == [(4, {"time": 1}), (5, {"seed": None}), (6, {"time": 1})]


def test_a_number_that_an_environment_does_not_give_is_nan():
    of_three, arrays = group(info_keys=("speed",))
    of_three.reset(0, {4: 1, 5: 2, 6: 3}, None)
    of_three.step(0)
    assert np.isnan(arrays.slots[0].kept["info.speed"][4:]).all()


def test_an_info_that_is_kept_and_is_no_number_is_named():
    of_three, _ = group(info_keys=("time",))
    of_three.reset(0, {4: 1, 5: 2, 6: 3}, None)
    step = of_three.envs[1].step
    of_three.envs[1].step = lambda action: (*step(action)[:4], {"time": "noon"})
    with pytest.raises(WrongResult, match=r"environment 5 gave 'noon' as info 'time'.*info_keys"):
        of_three.step(0)


def test_what_an_environment_raises_has_its_index_and_its_traceback_and_can_be_pickled():
    of_three, arrays = group()
    of_three.reset(0, {4: 1, 5: 2, 6: 3}, None)
    arrays.actions[4:] = 1, 9, 1
    with pytest.raises(EnvironmentRaised) as found:
        of_three.step(0)
    assert found.value.headline == "environment 5 failed in step: RuntimeError: nine"
    assert "in step" in found.value.trace and found.value.trace.count("File ") == 1
    assert isinstance(found.value.__cause__, RuntimeError)
    assert str(pickle.loads(pickle.dumps(found.value))) == str(found.value)


def test_an_attribute_that_is_not_there_is_named():
    of_three, _ = group()
    with pytest.raises(AttributeError, match="environment 6 has no attribute 'colour'"):
        of_three.get_attr("colour", [6])


class Broken(Counter):
    """Has a property that raises."""

    @property
    def battery(self):
        raise RuntimeError("not connected")


@pytest.mark.parametrize(
    "command", [("get_attr", "battery", [1]), ("call", "battery", [1], (), {})]
)
def test_what_a_property_raises_is_named_and_sent(command):
    spaces = Counter.observation_space, Counter.action_space
    of_two = EnvironmentGroup([Broken(), Broken()], step_arrays.allocate(*spaces, 2))
    message = "environment 1 failed in battery: RuntimeError: not connected"
    with pytest.raises(EnvironmentRaised, match=message):
        getattr(of_two, command[0])(*command[1:])
    assert reply(of_two, *command).message == message


def test_a_worker_answers_whatever_a_command_raises():
    of_three, _ = group()
    failure = reply(of_three, "get_attr", "time", [9])
    message = "a worker failed in its command 'get_attr': IndexError: list index out of range"
    assert failure.message == message and isinstance(failure.exception(), EnvironmentFailed)


def test_every_environment_is_closed_whatever_one_raises():
    of_three, _ = group()
    of_three.reset(0, {4: 1, 5: 2, 6: 3}, None)
    of_three.envs[1].step(5)
    (error,) = close_all(of_three.envs, start=4)
    assert error.headline.startswith("environment 5 failed in close: OSError")
    assert isinstance(error.__cause__, OSError)


def test_an_error_tells_the_episode_that_automatic_restarts_have_begun():
    of_two, arrays = group(2)
    of_two.reset(0, {4: 7, 5: None}, None)
    arrays.actions[4:6] = 1
    for turn in (1, 0, 1):
        of_two.step(turn)
    for at, history in ((5, "It was never seeded.*episode 4"), (4, "Its seed is 7.*episode 5")):
        arrays.actions[at] = 9
        with pytest.raises(
            EnvironmentRaised, match=f"environment {at} failed in step.*\\n{history}"
        ):
            of_two.step(0)


def test_a_wrong_result_is_told_also_where_it_is_not_checked():
    of_two, _ = group(2)
    of_two.reset(0, {4: None, 5: None}, None)
    of_two._to_check = 0
    for reward, shown in (("one", "'one'"), (10**400, "a whole number of 1329 bits")):
        result = np.zeros(1, np.float32), reward, False, False, {}
        of_two.envs[1].step = lambda action, result=result: result
        with pytest.raises(WrongResult, match=f"environment 5 .* wrong reward in step: {shown}"):
            of_two.step(1)


def test_a_place_names_the_environment_its_method_and_the_innermost_function():
    def moves_the_arm(action):
        return helper()

    def helper():
        places.append(place_of(sys._getframe()))
        return np.zeros(1, np.float32), 0.0, False, False, {}

    of_two, _ = group(2)
    of_two.reset(0, {4: None, 5: None}, None)
    of_two.envs[1].step, places = moves_the_arm, []
    of_two.step(1)
    (place,) = places
    assert place.startswith("environment 5 is in moves_the_arm (test_stepping.py line ")
    assert place.endswith(", in helper)")
    assert place_of(sys._getframe()).startswith("no environment is called (test_stepping.py line")


def test_a_place_names_an_environment_that_is_being_closed():
    def hangs():
        places.append(place_of(sys._getframe()))

    of_two, _ = group(2)
    of_two.reset(0, {4: None, 5: None}, None)
    of_two.envs[1].close, places = hangs, []
    assert close_all(of_two.envs, start=4) == []
    assert places[0].startswith("environment 5 is in hangs (test_stepping.py line ")


@pytest.mark.parametrize("leaving", [KeyboardInterrupt, SystemExit])
def test_an_exit_tells_which_environment_was_in_which_method(leaving):
    def leave(*_, **how):
        raise leaving

    of_two, _ = group(2)
    of_two.reset(0, {4: None, 5: None}, None)
    for method, call in (
        ("step", lambda: of_two.step(1)),
        ("reset", lambda: of_two.reset(0, {4: None, 5: None}, None)),
    ):
        setattr(of_two.envs[1], method, leave)
        with pytest.raises(leaving) as left:
            call()
        assert left.value.__notes__ == [f"environment 5 was in {method}"]


def test_only_the_first_steps_are_checked_completely(monkeypatch):
    of_two, _ = group(2)
    of_two.reset(0, {4: None, 5: None}, None)
    checked = []
    monkeypatch.setattr(stepping, "check_step", lambda index, env, result: checked.append(index))
    for turn in range(CHECKED_STEPS + 5):
        of_two.step(turn % 2)
    assert checked == [4, 5] * CHECKED_STEPS


def test_those_that_were_made_are_known_when_one_cannot_be():
    def broken():
        raise KeyError("robot")

    made = []
    with pytest.raises(EnvironmentRaised, match="environment 8 failed when it was made: KeyError"):
        for env in making.make_environments([Counter, broken], start=7):
            made.append(env)
    assert len(made) == 1


class Halves(gym.Wrapper):
    """Raises for a reward that is not 0.5, and where it resets for a second time."""

    again = False

    def step(self, action):
        observation, reward, *rest = self.env.step(action)
        return observation, self._halved(reward * (1 if action < 5 else 3)), *rest

    def _halved(self, reward):
        return {0.5: 0.25}[reward]

    def reset(self, **keywords):
        if self.again:
            raise ValueError("once is enough")
        self.again = True
        return super().reset(**keywords)


def test_what_a_wrapper_of_a_plugin_raises_is_said_to_be_its_own(monkeypatch):
    point = Point("wrappers", "halves", f"{__name__}:component", "acme-halves", "1.2")
    monkeypatch.setattr(failures, "entry_points", lambda: iter([point]))
    wrapped = gym.wrappers.TransformReward(Halves(Counter()), lambda reward: reward)
    arrays = step_arrays.allocate(Counter.observation_space, Counter.action_space, 1, ())
    of_one = EnvironmentGroup([wrapped], arrays)
    of_one.reset(0, {0: 1}, None)
    its_own = r"in the wrapper Halves \(acme-halves 1.2\) around it"
    for action, said in ((9, "step: RuntimeError"), (6, f"step, {its_own}: KeyError: 1.5")):
        arrays.actions[0] = action
        with pytest.raises(EnvironmentRaised, match=f"environment 0 failed in {said}"):
            of_one.step(1)
    with pytest.raises(EnvironmentRaised, match=f"failed in reset, {its_own}: ValueError: once"):
        of_one.reset(0, {0: 1}, None)


def test_what_is_around_an_environment_that_gave_a_wrong_result_is_named():
    class Drops(gym.Wrapper):
        def step(self, action):
            return self.env.step(action)[1:]

    wrapped = gym.wrappers.TransformReward(Drops(Counter()), lambda reward: reward)
    with pytest.raises(WrongResult, match=r"Let the environment, or what is around it \(Drops\), "):
        check_step(0, wrapped, Drops(Counter()).reset()[1:])
    with pytest.raises(WrongResult, match="Let the environment return that"):
        check_step(0, Counter(), ())


def test_what_gym_returned_is_refused_with_the_wrapper_for_it():
    observation = np.zeros(1, np.float32)
    with pytest.raises(WrongResult, match="use --plugin old-gym"):
        check_reset(0, Counter(), observation)
    with pytest.raises(WrongResult, match="use --plugin old-gym"):
        check_step(0, Counter(), (observation, 0.0, False, {}))
    for result in ((observation, 0.0, False), None):
        with pytest.raises(WrongResult, match=r"return that\.$"):
            check_step(0, Counter(), result)


def test_one_object_for_two_environments_is_refused():
    env = Counter()
    with pytest.raises(EnvironmentFailed, match="environments 2 and 3 are one and the same"):
        list(making.make_environments([lambda: env] * 2, start=2))


def test_how_often_a_new_environment_is_looked_at_does_not_grow_with_their_number(monkeypatch):
    looks = []
    monkeypatch.setattr(Counter, "unwrapped", property(lambda env: looks.append(1) or env))

    def each(n):
        """Looks at an environment, on average, where nobody keeps it."""
        looks.clear()
        assert sum(1 for _ in making.make_environments([Counter] * n)) == n
        return len(looks) / n

    assert each(100) == each(10) > 0


@pytest.mark.parametrize("dtype", [">f4", "<f2"])
@pytest.mark.parametrize("shape", [(), (2,)])
def test_numbers_that_no_memoryview_takes_are_kept(shape, dtype):
    space = gym.spaces.Dict({"wind": gym.spaces.Box(-1.0, 1.0, shape, np.dtype(dtype))})
    tree = rows.allocate(space, 2)
    rows.writer(tree)(1, {"wind": np.full(shape, 0.5, np.dtype(dtype))})
    assert tree["wind"][1].tolist() == np.full(shape, 0.5).tolist()


class InPlace(Counter):
    """Gives the same arrays and dicts in every info, and begins anew in them."""

    def __init__(self):
        self.place, self.figures, self.path = np.zeros(1), {"height": np.zeros(1)}, []

    def reset(self, *, seed=None, options=None):
        self.place[:] = self.figures["height"][:] = 0.0
        self.path.clear()
        return super().reset(seed=seed, options=options)

    def step(self, action):
        self.place += 1.0
        self.figures["height"] += 2.0
        self.path.append(self.time)
        *rest, _ = super().step(action)
        return *rest, {"place": self.place, "figures": self.figures, "path": self.path}


@pytest.mark.parametrize("info_keys", [(), None])
def test_the_last_info_is_as_the_episode_ended_where_a_reset_overwrites_it(info_keys):
    spaces = Counter.observation_space, Counter.action_space
    of_one = EnvironmentGroup([InPlace()], step_arrays.allocate(*spaces, 1), info_keys=info_keys)
    of_one.reset(0, {0: None}, None)
    of_one._arrays.actions[:] = 2
    of_one.step(1)
    ((_, last),), _ = of_one.step(0)
    assert last == {"place": [2.0], "figures": {"height": [4.0]}, "path": [0, 1]}
