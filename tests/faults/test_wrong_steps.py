"""An environment returns what its spaces or Gymnasium's interface forbid: the error names it."""

from __future__ import annotations

import gymnasium as gym
import numpy as np
import pytest

import rlk
from rlk.errors import EnvironmentFailed
from rlk_dummy import DummyVecEnv
from rlk_subprocess import SubprocVecEnv
from rlk_vector_environments.failures import WrongResult
from rlk_vector_environments.stepping import CHECKED_STEPS

BOX = gym.spaces.Box(-1.0, 1.0, (3,), np.float32)
IMAGE = gym.spaces.Box(0, 255, (4, 4, 3), np.uint8)
SPACES = {
    "box": BOX,
    "image": IMAGE,
    "discrete": gym.spaces.Discrete(4, start=1),
    "multi-discrete": gym.spaces.MultiDiscrete([2, 3], start=[5, 6]),
    "multi-binary": gym.spaces.MultiBinary(3),
    "dict": gym.spaces.Dict({"place": BOX, "room": gym.spaces.Discrete(4)}),
}
#: name -> (space, what is returned as its sample, what the error says was found).
OBSERVATIONS = {
    "one number for three": ("box", np.zeros(1, np.float32), "float32 of shape (1,)"),
    "no axis": ("box", np.float32(0.0), "float32 of shape ()"),
    "an axis too many": ("box", np.zeros((1, 3), np.float32), "float32 of shape (1, 3)"),
    "a list of lists": ("box", [[0.0], [1.0, 2.0]], "[[0.0], [1.0, 2.0]] (list)"),
    "words": ("box", "abc", "'abc' (str)"),
    "nothing": ("box", None, "None (NoneType)"),
    "an image in 0 to 1": ("image", np.full((4, 4, 3), 0.5, np.float32), "float32, which may be"),
    "a row of an image": ("image", np.zeros((4, 3), np.uint8), "uint8 of shape (4, 3)"),
    "below the first": ("discrete", 0, "0 (int)"),
    "a fraction": ("discrete", 1.5, "float64, which may be fractions"),
    "not counted from start": ("multi-discrete", np.array([0, 1]), "int64 of shape (2,)"),
    "no switch": ("multi-binary", np.array([0, 2, 1], np.int8), "int8 of shape (3,)"),
    "no dict": ("dict", np.zeros(3, np.float32), "float32 of shape (3,)"),
    "a key is missing": ("dict", {"place": np.zeros(3, np.float32)}, "the keys ['place']"),
    "in a key": ("dict", {"place": np.zeros(1, np.float32), "room": 1}, "of shape (1,)"),
}
#: field -> (what is returned for it, what the error says was found).
OTHERS = {
    "reward": [("3", "'3' (str)"), (None, "None"), (np.ones(1), "of shape (1,)"), ([1.0], "list")],
    "terminated": [
        (1, "1 (int)"),
        ("no", "'no'"),
        (None, "None"),
        (np.array([True]), "shape (1,)"),
    ],
    "truncated": [(0, "0 (int)"), (1.0, "1.0 (float)")],
    "info": [(None, "None"), ("x", "'x' (str)")],
}
#: A step that is no longer checked completely.
LATE = CHECKED_STEPS + 20
NUMBER_OF = {"observation": 0, "reward": 1, "terminated": 2, "truncated": 3, "info": 4}


class Wrong(gym.Env):
    """Right until step `at`, which returns `value` as `field`; episodes have `length` steps."""

    def __init__(self, field="", value=None, at=2, space="box", length=1000):
        self.observation_space, self.action_space = SPACES[space], gym.spaces.Discrete(2)
        self.field, self.value, self.at, self.length = field, value, at, length
        self.steps = self.time = 0

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.time = 0
        found = [self.observation_space.sample(), {}]
        if self.field == "reset" and self.steps >= self.at:
            found = self.value
        return tuple(found)

    def step(self, action):
        self.steps += 1
        self.time += 1
        over = self.time >= self.length
        found = [self.observation_space.sample(), 1.0, over, False, {}]
        if self.steps == self.at and self.field in NUMBER_OF:
            found[NUMBER_OF[self.field]] = self.value
        if self.steps == self.at and self.field == "result":
            found = found[:4]
        return tuple(found)


def step_until_refused(vector, steps):
    """The error with which stepping this vector ends."""
    vector.reset(seed=0)
    with pytest.raises(WrongResult) as caught:
        for _ in range(steps):
            vector.step(np.zeros(vector.num_envs, np.int64))
    vector.close()
    return str(caught.value)


def on(backend, space="box", **wrong):
    """Two environments, the second of which is wrong."""
    makers = [lambda: Wrong(space=space), lambda: Wrong(space=space, **wrong)]
    if backend == "dummy":
        return DummyVecEnv(makers)
    return SubprocVecEnv(makers, n_workers=1, start_method="fork")


@pytest.mark.parametrize("name", OBSERVATIONS)
def test_a_wrong_observation_is_named(name):
    space, value, found = OBSERVATIONS[name]
    error = step_until_refused(on("dummy", space, field="observation", value=value), 2)
    assert error.startswith("environment 1 (Wrong) gave a wrong observation")
    assert "in step: " in error and found in error and "expected" in error
    assert "or correct its observation_space." in error


@pytest.mark.parametrize("field", OTHERS)
def test_a_wrong_reward_flag_or_info_is_named(field):
    for value, found in OTHERS[field]:
        error = step_until_refused(on("dummy", field=field, value=value), 2)
        assert f"gave a wrong {field} in step: " in error and found in error
        assert "return that." in error and "observation_space" not in error


@pytest.mark.parametrize("field", ["observation", "reward", "terminated", "info", "result"])
def test_both_backends_say_the_same(field):
    value = np.zeros(1, np.float32) if field == "observation" else None
    both = [
        step_until_refused(on(backend, field=field, value=value), 2)
        for backend in ("dummy", "subprocess")
    ]
    assert both[0] == both[1]


@pytest.mark.parametrize("space", SPACES)
def test_a_wrong_shape_is_named_however_late_it_comes(space):
    wrong = {"discrete": np.zeros(2, np.int64), "dict": {"place": np.zeros(1), "room": 0}}
    value = wrong.get(space, np.zeros(1, np.uint8))
    error = step_until_refused(on("dummy", space, field="observation", value=value, at=LATE), 200)
    assert "gave a wrong observation" in error


def an_array_is_a_number():
    """Whether this numpy accepts an array of one number as a number; since 2.4 it does not."""
    try:
        return float(np.ones(1)) == 1.0
    except TypeError:
        return False


@pytest.mark.filterwarnings("ignore:Conversion of an array:DeprecationWarning")
@pytest.mark.parametrize("field", ["reward", "terminated", "truncated", "result"])
def test_a_wrong_type_is_named_however_late_it_comes(field):
    for value, found in OTHERS.get(field, [(None, "4 values")]):
        if field == "reward" and isinstance(value, np.ndarray) and an_array_is_a_number():
            continue  # this very number is learnt from, so nothing goes wrong
        error = step_until_refused(on("dummy", field=field, value=value, at=LATE), 200)
        assert f"gave a wrong {field} in step" in error and found in error


@pytest.mark.parametrize("at", [5, CHECKED_STEPS + 5])
@pytest.mark.parametrize(
    ("value", "field"),
    [
        ((np.zeros(1, np.float32), {}), "observation"),
        (np.zeros(3, np.float32), "result"),
    ],
)
def test_what_a_restart_returns_is_looked_at_too(at, value, field):
    error = step_until_refused(on("dummy", field="reset", value=value, at=at, length=5), 200)
    assert f"gave a wrong {field} in reset" in error


def test_what_the_first_reset_returns_is_looked_at_whole():
    for value, field in [((BOX.sample(), None), "info"), ((np.zeros(4), {}), "observation")]:
        vector = DummyVecEnv([lambda v=value: Wrong("reset", v, at=0)])
        with pytest.raises(WrongResult, match=rf"environment 0 .* wrong {field} in reset"):
            vector.reset()


def test_what_fits_by_another_type_is_taken_as_before():
    class Loose(Wrong):
        def step(self, action):
            _, _, over, cut, info = super().step(action)
            return [0.5, 1, 0], np.array(2), np.bool_(over), np.bool_(cut), info

    vector = DummyVecEnv([lambda: Loose(length=3)] * 2)
    vector.reset(seed=0)
    for _ in range(CHECKED_STEPS + 10):
        observation, reward, terminated, *_ = vector.step(np.zeros(2, np.int64))
        assert reward.tolist() == [2.0, 2.0]
        if not terminated.any():
            assert observation.tolist() == [[0.5, 1.0, 0.0]] * 2


@pytest.mark.parametrize("algo", ["ppo2", "dqn"])
def test_a_run_ends_with_the_message_and_stores_nothing_of_that_step(algo):
    def make():
        return Wrong("observation", np.zeros((1, 3), np.float32), at=6)

    with rlk.make(algo, env=make) as agent:
        with pytest.raises(EnvironmentFailed, match=r"environment 0 \(Wrong\) gave a wrong obs"):
            agent.learn(200)
        assert agent.num_timesteps == 5


class Foreign(gym.vector.VectorEnv):
    """A vector environment that a program passes, of two environments."""

    metadata = {"autoreset_mode": gym.vector.AutoresetMode.SAME_STEP}
    num_envs = 2
    single_observation_space, single_action_space = BOX, gym.spaces.Discrete(2)

    def __init__(self, **wrong):
        zeros = np.zeros((2, 3), np.float32)
        no = np.zeros(2, np.bool_)
        right = {"observation": zeros, "reward": np.zeros(2), "terminated": no, "truncated": no}
        self.found = {"reset": zeros, **right, **wrong}

    def reset(self, *, seed=None, options=None):
        return self.found["reset"], {}

    def step(self, actions):
        return *(self.found[field] for field in list(NUMBER_OF)[:4]), {}


@pytest.mark.parametrize(
    ("field", "value", "found"),
    [
        ("reset", np.zeros((2, 1), np.float32), r"wrong observation: \(2, 1\); expected \(2, 3\)"),
        ("observation", np.zeros(3, np.float32), r"wrong observation: \(3,\)"),
        ("reward", np.zeros((2, 1)), r"wrong reward: float64 \(2, 1\)"),
        ("reward", np.array(["1", "2"]), "wrong reward: <U1"),
        ("terminated", np.zeros(2), r"wrong terminated: float64 \(2,\); expected bool \(2,\)"),
        ("truncated", np.zeros(1, np.bool_), r"wrong truncated: bool \(1,\)"),
    ],
)
def test_nothing_is_learnt_from_a_foreign_vector_that_is_wrong(field, value, found):
    with rlk.make("ppo2", env=Foreign(**{field: value}), n_steps=4) as agent:
        with pytest.raises(EnvironmentFailed, match=f"Foreign.*{found}"):
            agent.learn(100)
        assert agent.run.clock.updates == 0


def test_a_foreign_vector_that_is_right_is_learnt_from():
    with rlk.make("ppo2", env=Foreign(), n_steps=4) as agent:
        agent.learn(16)
        assert agent.run.clock.updates > 0
