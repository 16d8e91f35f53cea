"""An environment put back where another one was goes on as that one does."""

from __future__ import annotations

import json
from collections import deque

import gymnasium as gym
import numpy as np
import pytest

from rlk_vector_environments.env_state import Unsupported, capture, restore

CLASSIC = [
    "CartPole-v1",
    "Pendulum-v1",
    "MountainCar-v0",
    "MountainCarContinuous-v0",
    "Acrobot-v1",
    "FrozenLake-v1",
]


def play(env, actions, seed=None):
    """Everything an environment says while it is stepped, with resets where episodes end."""
    trace = []
    if seed is not None:
        trace.append(env.reset(seed=seed)[0])
    for action in actions:
        observation, reward, terminated, truncated, info = env.step(action)
        trace += [observation, reward, terminated, truncated, sorted(info)]
        if terminated or truncated:
            trace.append(env.reset()[0])
    return trace


def same(left, right):
    return len(left) == len(right) and all(
        np.array_equal(a, b) for a, b in zip(left, right, strict=True)
    )


def through_json(state):
    """The state as a file would hold it: JSON text, the arrays beside it."""
    arrays = []

    def keep(array):
        assert isinstance(array, np.ndarray) and array.dtype.kind in "biuf"
        arrays.append(array.tobytes())
        return {"__array__": len(arrays) - 1, "dtype": array.dtype.str, "shape": array.shape}

    def put_back(found):
        if "__array__" not in found:
            return found
        flat = np.frombuffer(arrays[found["__array__"]], found["dtype"])
        return flat.reshape(found["shape"])

    return json.loads(json.dumps(state, default=keep), object_hook=put_back)


@pytest.mark.parametrize("name", CLASSIC)
@pytest.mark.parametrize("checked", [True, False])
def test_a_restored_environment_continues_bit_for_bit_for_300_steps_with_resets(name, checked):
    original, copy = (gym.make(name, disable_env_checker=not checked) for _ in range(2))
    original.action_space.seed(3)
    before = [original.action_space.sample() for _ in range(17)]
    after = [original.action_space.sample() for _ in range(300)]
    play(original, before, seed=11)
    state = through_json(capture(original))
    restore(copy, state)
    expected = play(original, after)
    assert same(play(copy, after), expected)
    other = gym.make(name)
    other.reset(seed=12)
    assert not same(play(other, after), expected)


def test_a_state_is_a_copy_that_later_steps_do_not_touch():
    env, copy = gym.make("CartPole-v1"), gym.make("CartPole-v1")
    env.reset(seed=0)
    state = capture(env)
    expected = play(env, [0, 1] * 40)
    for _ in range(2):
        restore(copy, state)
        assert same(play(copy, [0, 1] * 40), expected)


def test_what_an_environment_was_in_the_middle_of_is_overwritten():
    env, busy = gym.make("CartPole-v1"), gym.make("CartPole-v1")
    env.reset(seed=0)
    play(busy, [1] * 30, seed=5)
    restore(busy, capture(env))
    assert same(play(busy, [0, 1] * 40), play(env, [0, 1] * 40))


def test_the_time_limit_continues_from_where_it_was():
    env, copy = gym.make("Pendulum-v1"), gym.make("Pendulum-v1")
    env.reset(seed=0)
    for _ in range(150):
        env.step(np.zeros(1, np.float32))
    restore(copy, capture(env))
    ends = [copy.step(np.zeros(1, np.float32))[3] for _ in range(50)]
    assert ends == [False] * 49 + [True]


class Holding(gym.Env):
    """Holds one thing, given by the test."""

    observation_space = gym.spaces.Discrete(2)
    action_space = gym.spaces.Discrete(2)

    def __init__(self, held=None):
        self.held = held


VALUES = {
    "nested": {"a": [1, (2.5, "x", None)], 3: {"deep": [True]}},
    "float32": np.float32(1.25),
    "bool_": np.bool_(True),
    "deque": deque([1, 2, 3], maxlen=3),
    "empty": [],
    "text": np.array([[b"S", b"H"]]),
    "unicode": np.array(["eins", "zwei"]),
    "scalar array": np.array(3, np.int16),
    "big": 2**200,
}


@pytest.mark.parametrize("name", VALUES)
def test_a_value_comes_back_with_its_type(name):
    other = Holding("something else")
    restore(other, through_json(capture(Holding(VALUES[name]))))
    assert type(other.held) is type(VALUES[name])
    assert np.array_equal(other.held, VALUES[name]) if name != "deque" else other.held.maxlen == 3
    if isinstance(other.held, np.ndarray | np.generic):
        assert other.held.dtype == VALUES[name].dtype and other.held.shape == VALUES[name].shape
    if name in ("nested", "deque"):
        assert other.held == VALUES[name]


@pytest.mark.parametrize("bits", ["PCG64", "PCG64DXSM", "MT19937", "Philox", "SFC64"])
def test_every_numpy_generator_continues_with_its_stream(bits):
    env, other = Holding(np.random.Generator(getattr(np.random, bits)(7))), Holding()
    env.held.integers(10, size=3, dtype=np.int32)
    restore(other, through_json(capture(env)))
    assert np.array_equal(other.held.random(20), env.held.random(20))


def test_one_object_in_two_places_is_one_object_again():
    env, other = Holding(np.arange(3.0)), Holding()
    env.again = [env.held]
    restore(other, capture(env))
    other.held[0] = 9.0
    assert other.again[0] is other.held
    assert env.held[0] == 0.0


def test_an_attribute_the_captured_one_did_not_have_is_gone():
    other = Holding(1)
    other.leftover = 5
    restore(other, capture(Holding(2)))
    assert other.held == 2 and not hasattr(other, "leftover")


def test_spaces_functions_and_render_mode_stay_as_they_were_made():
    env, other = Holding(1), Holding(1)
    env.render_mode, other.render_mode = "human", "rgb_array"
    env.reward, other.reward = (lambda: 1), (lambda: 2)
    env.table, other.table = {"a": len}, {"a": max}
    env.space, other.space = gym.spaces.Discrete(3), gym.spaces.Discrete(4)
    restore(other, capture(env))
    assert (other.render_mode, other.reward(), other.table["a"], other.space.n) == (
        "rgb_array",
        2,
        max,
        4,
    )


class Engine:
    """Stands for a physics engine."""


@pytest.mark.parametrize(
    ("held", "reason"),
    [
        (Engine(), "Holding.held holds a .*Engine"),
        ([1, Engine()], "Holding.held holds a .*Engine"),
        ({1, 2}, "Holding.held holds a builtins.set"),
        (np.array([None]), "Holding.held holds a numpy.ndarray of object"),
        (np.random.RandomState(1), "RandomState"),
    ],
)
def test_what_cannot_be_captured_is_refused_with_its_name(held, reason):
    env = gym.wrappers.TimeLimit(Holding(held), 5)
    with pytest.raises(Unsupported, match=reason):
        capture(env)


def test_a_view_of_another_array_is_refused_for_a_copy_would_part_them():
    env = Holding(np.zeros((2, 2)))
    env.row = env.held[0]
    with pytest.raises(Unsupported, match=r"Holding\.row is a view"):
        capture(env)


def test_a_view_from_the_last_element_to_the_first_is_one_too():
    numbers = np.arange(9.0)
    env = Holding(numbers[::-1])
    env.head = numbers[:2]
    with pytest.raises(Unsupported, match="is a view"):
        capture(env)


class Speaking(gym.Env):
    """Has an engine, and says what its state is."""

    observation_space = gym.spaces.Discrete(2)
    action_space = gym.spaces.Discrete(2)

    def __init__(self):
        self.engine = Engine()
        self.engine.height = 0.0

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.engine.height = self.np_random.random()
        return 0, {}

    def get_state(self):
        return (self.engine.height,)

    def set_state(self, state):
        (self.engine.height,) = state


def test_an_environment_that_offers_its_state_is_asked_and_its_generator_kept_besides():
    env, other = (gym.wrappers.TimeLimit(Speaking(), 5) for _ in range(2))
    env.reset(seed=1)
    env._elapsed_steps = 3
    restore(other, through_json(capture(env)))
    assert other.unwrapped.engine.height == env.unwrapped.engine.height != 0.0
    assert other._elapsed_steps == 3
    env.reset(), other.reset()
    assert other.unwrapped.engine.height == env.unwrapped.engine.height


class Whole(gym.Wrapper):
    """Answers for what it wraps."""

    has_whole_state = True

    def get_state(self):
        return self.unwrapped.engine.height

    def set_state(self, state):
        self.unwrapped.engine.height = state


def test_nothing_inside_a_layer_that_has_the_whole_state_is_asked():
    env, other = (gym.wrappers.TimeLimit(Whole(Holding()), 5) for _ in range(2))
    for height, one in enumerate((env, other)):
        one.unwrapped.engine = Engine()
        one.unwrapped.engine.height = height
    env._elapsed_steps = 3
    state = capture(env)
    assert [layer["class"] for layer in state["layers"]] == ["TimeLimit", "Whole"]
    restore(other, through_json(state))
    assert other.unwrapped.engine.height == 0 and other._elapsed_steps == 3


def test_a_state_of_another_chain_of_wrappers_is_refused_and_changes_nothing():
    env = gym.wrappers.TimeLimit(Holding(1), 5)
    with pytest.raises(Unsupported, match="a state of Holding does not fit TimeLimit > Holding"):
        restore(env, capture(Holding(2)))
    assert env.unwrapped.held == 1


def test_a_state_that_names_another_class_of_generator_makes_nothing():
    state = capture(Holding(np.random.default_rng(0)))
    state["layers"][0]["attributes"]["held"]["state"]["bit_generator"] = "seed"
    with pytest.raises(Unsupported, match="generator"):
        restore(Holding(), state)


def test_importing_it_imports_no_torch():
    import subprocess
    import sys

    code = "import sys, rlk_vector_environments.env_state; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_a_renderer_that_was_in_use_is_made_anew_when_it_is_needed():
    env, twin = (gym.make("CartPole-v1", render_mode="rgb_array") for _ in range(2))
    play(env, [0, 1, 1], seed=3)
    shown = env.render()
    twin.reset(seed=4)
    restore(twin, through_json(capture(env)))
    assert np.array_equal(twin.render(), shown)
    assert same(play(env, [1, 0, 0, 1]), play(twin, [1, 0, 0, 1]))
    for one in (env, twin):
        one.close()


class Layered(gym.Wrapper):
    """A wrapper whose state is an array that it makes whenever it is asked."""

    number = 0

    def get_state(self):
        return np.full(1000, self.number)

    def set_state(self, state):
        (self.number,) = set(state.tolist())


def test_states_that_are_made_one_after_the_other_are_kept_apart():
    env, twin = (Layered(Layered(Layered(gym.make("CartPole-v1")))) for _ in range(2))
    env.number, env.env.number, env.env.env.number = 1, 2, 3
    restore(twin, capture(env))
    assert (twin.number, twin.env.number, twin.env.env.number) == (1, 2, 3)
