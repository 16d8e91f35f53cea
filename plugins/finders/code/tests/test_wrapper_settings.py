"""Wrappers of other packages, whose arguments are settings."""

from __future__ import annotations

import attrs
import gymnasium as gym
import pytest

from rlk import settings
from rlk.errors import PlanError, UnknownName
from rlk_code.components import component_at
from rlk_code.wrapper_settings import settings_of

STACK = "gymnasium.wrappers:FrameStackObservation"


def wrapped(place, **given):
    """CartPole in the wrapper at a place, as a run makes it."""
    component = component_at(place)
    config = settings.structure(component.config, given, "it")
    env = gym.make("CartPole-v1")
    return component.load()(env, *(() if config is None else (config,)))


def test_further_arguments_are_settings_with_their_defaults():
    component = component_at(STACK)
    assert component.kind == "wrappers"
    assert settings.names(component.config) == ["stack_size", "padding_type"]
    assert wrapped(STACK, stack_size=3).observation_space.shape == (3, 4)
    with wrapped(STACK, stack_size=2, padding_type="zero") as env:
        assert not env.reset()[0][0].any()


def test_a_missing_or_an_unknown_argument_is_refused_while_planning():
    with pytest.raises(PlanError, match="needs stack_size"):
        wrapped(STACK)
    with pytest.raises(UnknownName, match=r"'stack'.*Did you mean 'stack_size'"):
        wrapped(STACK, stack=3)


def test_lists_become_tuples(file):
    file.write_text(
        "import gymnasium\n"
        "class Shows(gymnasium.Wrapper):\n"
        "    def __init__(self, env, shape, *, scale=1.0, _secret=None, **others):\n"
        "        super().__init__(env)\n"
        "        self.given = shape, scale, _secret, others\n"
    )
    env = wrapped(f"{file}:Shows", shape=[84, 84], scale=2)
    assert env.given == ((84, 84), 2, None, {})
    config = component_at(f"{file}:Shows").config
    assert [field.name for field in attrs.fields(config)] == ["shape", "scale"]


def test_a_wrapper_without_further_arguments_has_no_settings():
    component = component_at("gymnasium.wrappers:FlattenObservation")
    assert component.config is None and component.factory is gym.wrappers.FlattenObservation
    assert settings_of(dict) is None  # hides what it takes


def test_a_wrapper_with_a_config_of_its_own_keeps_it(file):
    file.write_text(
        "import attrs, gymnasium\n"
        "@attrs.frozen(kw_only=True)\n"
        "class Config:\n"
        "    size: int = 3\n"
        "class Sized(gymnasium.Wrapper):\n"
        "    config = Config\n"
        "    def __init__(self, env, config):\n"
        "        super().__init__(env)\n"
        "        self.size = config.size\n"
    )
    assert wrapped(f"{file}:Sized", size=5).size == 5
