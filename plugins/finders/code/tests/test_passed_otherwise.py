"""A class that a run named by its place is passed as an object to the next one, or vice versa."""

from __future__ import annotations

from functools import partial

import pytest
from gymnasium.wrappers import FrameStackObservation

import rlk
from rlk_code.place import object_at

CODE = """
from rlk import hookimpl

class Climbs:
    level = twice = 0

    def __init__(self, by):
        self.by = by

    @hookimpl
    def rlk_update_end(self):
        self.level += self.by

    @hookimpl
    def rlk_save_with_model(self):
        return {"level": self.level}

    @hookimpl
    def rlk_load_with_model(self, state):
        self.level = state["level"]

    @hookimpl
    def rlk_save(self):
        return {"twice": 2 * self.level}

    @hookimpl
    def rlk_load(self, state):
        self.twice = state["twice"]

    @hookimpl
    def rlk_log(self, row):
        row["level"], row["by"], row["twice"] = self.level, self.by, self.twice
"""
SETTINGS = {"env": "CartPole-v1", "n_envs": 1, "n_steps": 8, "preset": "none"}


@pytest.fixture
def file_of_class(file):
    file.write_text(CODE)
    return file


@pytest.mark.parametrize("then", ["an object", "a place"])
def test_a_plugin_has_its_saved_state_and_the_settings_of_now(file_of_class, tmp_path, then):
    place = f"{file_of_class}:Climbs"
    made_by = object_at(place, "plugin")
    first, second = f"{place}:by=3", made_by(by=5)
    if then == "a place":
        first, second = made_by(by=3), f"{place}:by=5"
    with rlk.make("ppo2", plugins=[first], **SETTINGS) as agent:
        path = agent.learn(16).save_checkpoint(tmp_path / "checkpoint")
    with rlk.load(path, plugins=[second]) as agent:
        assert not agent.differs
        row = {}
        agent.run.notify("rlk_log", row=row)
    assert {key: row[key] for key in ("level", "twice", "by")} == {"level": 6, "twice": 12, "by": 5}


def test_a_plugin_that_is_named_by_its_place_again_has_its_saved_settings(file_of_class, tmp_path):
    place = f"{file_of_class}:Climbs"
    with rlk.make("ppo2", plugins=[f"{place}:by=3"], **SETTINGS) as agent:
        path = agent.save(tmp_path / "model")
    with rlk.load(path, plugins=[place]) as agent:
        row = {}
        agent.run.notify("rlk_log", row=row)
    assert row["by"] == 3


def test_a_wrapper_that_is_passed_as_a_partial_has_its_own_arguments(tmp_path):
    place = "gymnasium.wrappers:FrameStackObservation:stack_size=3"
    with rlk.make("ppo2", plugins=[place], **SETTINGS) as agent:
        path = agent.save(tmp_path / "model")
    with rlk.load(path, plugins=[partial(FrameStackObservation, stack_size=3)]) as agent:
        assert agent.get_env().single_observation_space.shape == (3, 4)
