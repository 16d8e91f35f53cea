"""Details of an environment's state: copies, order, spaces of a class, and what a file forges."""

from __future__ import annotations

import gymnasium as gym
import numpy as np
import pytest

from rlk.planning.environment import EnvChoice, MakeEnv
from rlk_vector_environments import how_made, making
from rlk_vector_environments.env_state import Unsupported, capture, restore


class Holds(gym.Env):
    """Has the attributes that it is given, and the spaces of its class."""

    observation_space = gym.spaces.Discrete(1000)
    action_space = gym.spaces.Discrete(1000)

    def __init__(self, **attributes):
        vars(self).update(attributes)


def made(**attributes):
    """As a backend makes one, whose settings are known."""
    choice = EnvChoice("Holds", attributes, Holds)
    return next(making.make_environments([MakeEnv(choice)]))


def test_an_array_that_is_written_to_later_is_captured_as_it_was():
    env, twin = made(), made()
    env.table = np.zeros(3)
    state = capture(env)
    env.table[:] = 7.0
    restore(twin, state)
    assert twin.table.tolist() == [0.0, 0.0, 0.0]


def test_arrays_beside_each_other_in_memory_are_no_views():
    env, twin, both = made(), made(), np.arange(6.0)
    env.first, env.second = both[:3], both[3:]
    restore(twin, capture(env))
    assert twin.first.tolist() == [0.0, 1.0, 2.0] and twin.second.tolist() == [3.0, 4.0, 5.0]


def test_an_object_after_a_tuple_is_still_one_in_two_places():
    env, twin = made(), made()
    env.pair, env.one, env.other = (1, 2), [5], [6]
    env.again = env.other
    restore(twin, capture(env))
    assert (twin.pair, twin.one, twin.other) == ((1, 2), [5], [6]) and twin.again is twin.other


def test_the_generator_of_a_space_that_a_class_has_goes_on():
    env = made()
    env.action_space.seed(3)
    state = capture(env)
    drawn = env.action_space.sample()
    env.action_space.seed(4)
    restore(env, state)
    assert env.action_space.sample() == drawn


def test_how_an_environment_was_made_is_noted_once():
    env = made(lives=3)
    before = how_made.of(env)
    env.lives = 2
    how_made.note(env)
    assert how_made.of(env) is before


def test_a_forged_setting_chooses_no_text_even_where_all_settings_are_the_same():
    state = capture(made(name="notes.txt"))
    (layer,) = state["layers"]
    assert "name" in layer["as_made"]
    layer["attributes"]["name"] = "other.txt"
    env = made(name="notes.txt")
    restore(env, state)
    assert env.name == "notes.txt"


@pytest.mark.parametrize(
    ("part", "key", "told"),
    [
        ("generators", "action_space", "something else than a random generator"),
        ("attributes", "step", "which is not a state"),
        ("attributes", "spec", "which is not a state"),
    ],
)
def test_a_forged_state_replaces_no_method_and_no_generator(part, key, told):
    state = capture(made())
    state["layers"][0][part][key] = 5
    with pytest.raises(Unsupported, match=told):
        restore(made(), state)
