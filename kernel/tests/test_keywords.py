"""The keywords of `rlk.make` and `rlk.load`: what they are called, and what becomes of them."""

from __future__ import annotations

import inspect
import re

import pytest

import rlk
from rlk.errors import PlanError, UnknownName
from rlk.planning.keywords import given_keywords
from rlk.planning.spec import KEYS_OF_RUN
from rlk_testing.environments import DiscreteMatch

NOT_OF_THE_RUN = {
    rlk.make: {"algo", "unnamed", "config", "kernel", "settings", "hyperparameters"},
    rlk.load: {"path", "kernel", "best", "to_act", "settings", "hyperparameters"},
}


@pytest.mark.parametrize("function", [rlk.make, rlk.load])
def test_every_key_of_a_run_is_named_with_a_type_and_explained(function):
    parameters = inspect.signature(function).parameters
    assert parameters.keys() - NOT_OF_THE_RUN[function] == {*KEYS_OF_RUN}
    assert all(one.annotation != inspect.Parameter.empty for one in parameters.values())
    arguments = inspect.getdoc(function).partition("Args:")[2].partition("Raises:")[0]
    explained = re.findall(r"^    (\w[\w,\s]*):", arguments, re.MULTILINE)
    assert {*re.split(r",\s+", ", ".join(explained))} == parameters.keys()


def given(settings={}, **keywords):  # noqa: B006
    of_run = {key: keywords.pop(key, None) for key in KEYS_OF_RUN}
    return given_keywords({**of_run, "algo": "dqn"}, settings, keywords)


def test_what_is_left_open_is_not_passed_on():
    assert given() == {}
    assert given(seed=0, gamma=None) == {"seed": 0, "gamma": None}


def test_tables_of_a_slot_and_of_settings_are_one():
    found = given({"policy.size": 3, "env": {"gravity": 5.0}}, policy={"layers": [4]})
    assert found == {"policy.layers": [4], "policy.size": 3, "env.gravity": 5.0}


@pytest.mark.parametrize("settings", [{"policy.size": 3}, {"policy": {"size": 3}}])
def test_what_is_given_twice_is_refused(settings):
    with pytest.raises(PlanError, match=r"^policy\.size is given twice: as a keyword, and in set"):
        given(settings, policy={"size": 4})


def test_settings_are_a_table():
    with pytest.raises(PlanError, match=r"table by dotted key, .* got \['policy.layers'\]"):
        given(["policy.layers"])


def test_settings_reach_the_run_and_a_loaded_one(make, tmp_path, rlk_stand_in_kernel):
    agent = make(env=DiscreteMatch, settings={"env.length": 9, "batch_size": 4})
    assert agent.plan.env.kwargs == {"length": 9}
    assert agent.plan.algorithm.config.batch_size == 4
    told = {"env": DiscreteMatch, "kernel": rlk_stand_in_kernel}
    with rlk.load(agent.save(tmp_path / "m"), settings={"env.length": 7}, **told) as loaded:
        assert loaded.plan.env.kwargs == {"length": 7}


def test_plugins_are_loaded_from_any_list_or_as_one(make, tmp_path, rlk_stand_in_kernel):
    told = {"env": DiscreteMatch, "kernel": rlk_stand_in_kernel}
    path = make().save(tmp_path / "m")
    for plugins in ["absent", ["absent"], iter(["absent"])]:
        with pytest.raises(UnknownName, match="unknown plugin 'absent'"):
            rlk.load(path, plugins=plugins, **told)
