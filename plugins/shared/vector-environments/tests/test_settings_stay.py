"""A resumed environment has its new settings, and the state of the old one."""

from __future__ import annotations

import gc
import sys
import types

import gymnasium as gym
import numpy as np
import pytest

from rlk.planning.environment import EnvChoice, MakeEnv
from rlk_vector_environments import how_made, making
from rlk_vector_environments.env_state import Unsupported, capture, restore


def made(make):
    """An environment as every backend makes it."""
    return next(making.make_environments([make]))


class Pole(gym.Env):
    """Has settings, state that reset makes, state that a step makes, and a list that grows."""

    observation_space = gym.spaces.Discrete(2)
    action_space = gym.spaces.Discrete(2)

    def __init__(self, gravity=10.0, lives=3, table=(1.0,), **others):
        self.gravity, self.lives, self.left, self.table = gravity, lives, lives, list(table)
        self.seen, self.start = [0], 0
        vars(self).update(others)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.start = int(self.np_random.integers(1, 1000))
        self.left = self.lives
        return 0, {}

    def step(self, action):
        self.seen.append(action)
        self.left -= 1
        return 0, self.gravity * self.np_random.random(), self.left == 0, False, {}


def resumed(before, make, *, seed=7):
    """A new environment that was reset as a resumed run resets it, with the state of another."""
    env = made(make)
    env.reset(seed=seed)
    restore(env, capture(before))
    return env


def test_a_setting_of_an_environment_is_that_of_the_new_one():
    before = made(Pole)
    before.reset(seed=1)
    before.step(1)
    env = resumed(before, lambda: Pole(gravity=1.0, table=[5.0, 6.0]))
    assert env.gravity == 1.0 and env.table == [5.0, 6.0]
    assert env.start == before.start and env.seen == [0, 1] and env.left == 2
    assert env.np_random.random() == before.np_random.random()


def test_a_time_limit_and_a_wrappers_setting_are_those_of_the_new_one():
    before = made(lambda: gym.wrappers.TimeLimit(Pole(), 500))
    before.reset(seed=1)
    before.step(1)
    env = resumed(before, lambda: gym.wrappers.TimeLimit(Pole(), 2))
    assert env.step(0)[3] is True  # one step was taken before


class Bandit(Pole):
    """Draws something in its constructor that episodes do not draw again."""

    def __init__(self, pulls=3):
        super().__init__(pulls=pulls)
        self.arms = np.random.default_rng().normal(size=4)


def test_what_a_constructor_draws_goes_on_unless_the_settings_are_others():
    def bandit(**settings):
        return MakeEnv(EnvChoice("Bandit", settings, Bandit))

    before = made(bandit())
    before.reset(seed=1)
    assert np.array_equal(resumed(before, bandit()).arms, before.arms)
    other = resumed(before, bandit(pulls=9))
    assert other.pulls == 9 and not np.array_equal(other.arms, before.arms)


def test_arrays_and_functions_among_the_settings_may_be_others():
    def wrapped(**settings):
        return MakeEnv(EnvChoice("Pole", settings, Pole))

    prices = np.zeros(5000)
    before = made(wrapped(prices=prices, bonus=lambda: 1))
    before.reset(seed=1)
    new = prices.copy()
    new[2500] = 7
    env = resumed(before, wrapped(prices=new, bonus=lambda: 2))
    assert env.prices[2500] == 7 and env.bonus() == 2


def test_a_list_that_was_changed_in_place_is_state():
    before = made(Pole)
    before.reset(seed=1)
    before.table.append(2.0)
    assert resumed(before, lambda: Pole(table=[9.0])).table == [1.0, 2.0]


def test_a_setting_that_the_program_changed_during_the_run_is_state():
    before = made(Pole)
    before.reset(seed=1)
    before.set_wrapper_attr("gravity", 3.0)
    assert resumed(before, lambda: Pole(gravity=1.0)).gravity == 3.0


def test_state_that_equals_the_constructors_value_by_chance_is_restored():
    before = made(Pole)
    before.reset(seed=1)
    before.start = 0
    env = made(Pole)
    env.reset(seed=7)
    assert env.start != 0
    restore(env, capture(before))
    assert env.start == 0


def test_attributes_that_only_the_new_settings_bring_stay_and_deleted_ones_go():
    before = made(lambda: Pole(bonus=1))
    before.reset(seed=1)
    del before.bonus
    env = resumed(before, lambda: Pole(bonus=1, extra=2))
    assert env.extra == 2 and not hasattr(env, "bonus")


def test_an_object_in_two_places_is_still_one_where_one_of_them_is_a_setting():
    def level():
        pole = Pole(levels=[[1], [2]])
        pole.level = None
        return pole

    before = made(level)
    before.reset(seed=1)
    before.level = before.levels[1]
    env = resumed(before, level)
    assert env.level is env.levels[1]


def test_the_inside_of_an_adapter_is_noted_too():
    class Adapter(gym.Env):
        def __init__(self, env):
            self.env = env

    inner = Pole()
    made(lambda: Adapter(inner))
    inner.reset(seed=1)
    other = made(lambda: Pole(gravity=2.0))
    restore(other, capture(inner))
    assert other.gravity == 2.0


def test_a_note_keeps_no_environment_alive():
    gc.collect()
    before = len(how_made._NOTES)
    env = made(lambda: gym.wrappers.TimeLimit(Pole(), 5))
    assert len(how_made._NOTES) == before + 2
    del env
    gc.collect()
    assert len(how_made._NOTES) == before


def test_an_environment_and_its_method_may_be_collected_together(monkeypatch):
    failed = []
    monkeypatch.setattr(sys, "unraisablehook", failed.append)
    env = gym.Env()
    env.choose = types.MethodType(lambda self: 0, env)
    how_made.note(env)
    del env
    gc.collect()
    assert not failed


@pytest.mark.parametrize("part", ["settings", "as_made", "deleted", "configuration", "generators"])
def test_a_state_that_lacks_what_tells_settings_from_state_is_damaged(part):
    before = made(Pole)
    before.reset(seed=1)
    state = capture(before)
    del (state if part == "settings" else state["layers"][0])[part]
    env = made(lambda: Pole(gravity=1.0))
    with pytest.raises(Unsupported, match=f"state is damaged: KeyError: '{part}'"):
        restore(env, state)
    assert env.gravity == 1.0 and env.start == 0


# ---- files ---------------------------------------------------------------------------------------


def forged(env, key, value, *, mark):
    """The state of an environment in which somebody gave an attribute another text."""
    state = capture(env)
    (layer,) = state["layers"]
    layer["attributes"][key] = value
    if not mark:
        layer["as_made"] = [name for name in layer["as_made"] if name != key]
    return state


@pytest.mark.parametrize("text", ["/home/me/thesis", "thesis", "notes.txt"])
def test_a_file_cannot_choose_where_an_environment_writes(text):
    env = made(lambda: Pole(log_path="run/mine.log"))
    restore(env, forged(env, "log_path", text, mark=True))
    assert env.log_path == "run/mine.log"
    env.reset(seed=1)
    with pytest.raises(Unsupported, match=f"log_path holds the text '{text}', which may name a"):
        restore(env, forged(env, "log_path", text, mark=False))
    assert env.log_path == "run/mine.log"


def test_a_value_that_no_environment_could_have_saved_hides_no_text():
    deep = "/home/me/thesis"
    for _ in range(40):
        deep = {"kind": "list", "items": [deep], "maxlen": None}
    env = made(lambda: Pole(held=0))
    for value in (deep, {"kind": "scalar", "value": "/home/me/thesis"}):
        with pytest.raises(Unsupported, match="damaged: no value of 'held'"):
            restore(env, forged(env, "held", value, mark=False))
    assert env.held == 0


def test_a_file_cannot_hide_a_path_of_the_class_either():
    class Logging(Pole):
        log_path = "mine.log"

    env = made(Logging)
    with pytest.raises(Unsupported, match=r"log_path holds the text 'thesis'"):
        restore(env, forged(env, "log_path", "thesis", mark=False))
    assert env.log_path == "mine.log"


@pytest.mark.parametrize("holder", [list, np.array, lambda texts: {texts[0]: 1}])
def test_a_text_within_another_value_cannot_name_a_file_either(holder):
    env, other = made(lambda: Pole(held=0)), made(lambda: Pole(held=0))
    env.held = holder(["left"])
    restore(other, capture(env))
    env.held = holder(["/left"])
    with pytest.raises(Unsupported, match="held holds the text '/left', which may name a file"):
        capture(env)


def test_a_path_that_the_new_constructor_set_is_taken_instead():
    before = made(lambda: Pole(log_path="a/mine.log"))
    before.reset(seed=1)
    assert resumed(before, lambda: Pole(log_path="b/new.log")).log_path == "b/new.log"


def test_texts_that_name_no_file_are_state(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "sell").mkdir()  # as many a folder of a project is called
    before = made(lambda: Pole(phase="buy", stats={"train/steps": 0}))
    before.phase, before.stats["train/steps"] = "sell", 4
    before.stats["pair"] = "BTC/USD"
    env = resumed(before, lambda: Pole(phase="buy", stats={"train/steps": 0}))
    assert (env.phase, env.stats) == ("sell", {"train/steps": 4, "pair": "BTC/USD"})


@pytest.mark.parametrize("text", ["out/episode-3.csv", "episode.csv", "C:\\log"])
def test_a_path_that_was_chosen_during_the_run_refuses_the_state(text):
    env = made(lambda: Pole(log_path=None))
    env.log_path = text
    with pytest.raises(Unsupported, match=r"Pole\.log_path holds the text .* may name a file"):
        capture(env)


def test_a_path_that_the_new_environment_has_is_restored_though_nobody_noted_how_it_was_made():
    class Reads(gym.Env):
        def __init__(self, file):
            self.file = file

    new = Reads("maps/maze.txt")
    restore(new, capture(Reads("maps/maze.txt")))
    assert new.file == "maps/maze.txt"
    with pytest.raises(Unsupported, match="may name a file"):
        restore(Reads("maps/maze.txt"), capture(Reads("maps/other.txt")))
