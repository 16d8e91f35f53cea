"""Wrappers of other packages and classes of hooks, whose arguments are settings."""

from __future__ import annotations

import attrs
import gymnasium as gym
import pytest

from rlk import settings
from rlk.errors import PlanError, UnknownName
from rlk.planning.resolve import resolve
from rlk.planning.spec import make_spec
from rlk.registry.kernel import default_kernel
from rlk_code.components import component_at
from rlk_code.constructor_settings import settings_of

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
        "    def __init__(self, env, shape, *, scale=1.0, made=print, _secret=None, **others):\n"
        "        super().__init__(env)\n"
        "        self.given = shape, scale, _secret, others\n"
    )
    env = wrapped(f"{file}:Shows", shape=[84, 84], scale=2)
    assert env.given == ((84, 84), 2, None, {})
    config = component_at(f"{file}:Shows").config
    assert [field.name for field in attrs.fields(config)] == ["shape", "scale"]


def test_what_has_a_default_that_no_file_holds_is_no_setting(file):
    file.write_text(
        "import gymnasium\n"
        "class Shows(gymnasium.Wrapper):\n"
        "    def __init__(self, env, a=[print], b={1: 2}, c={'d': [1]}): ...\n"
    )
    assert settings.names(component_at(f"{file}:Shows").config) == ["c"]


def test_of_a_partial_in_a_file_the_other_arguments_are_settings(file):
    file.write_text(
        "from functools import partial\n"
        "from gymnasium.wrappers import FrameStackObservation\n"
        "stacked = partial(FrameStackObservation, stack_size=3)\n"
    )
    with wrapped(f"{file}:stacked", padding_type="zero") as env:
        assert env.observation_space.shape == (3, 4) and not env.reset()[0][0].any()


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


HOOKS = (
    "from rlk import hookimpl\n"
    "class Mine:\n"
    "    def __init__(self, every, levels=(1, 2), made=print, _secret=None):\n"
    "        self.given = every, levels, _secret\n"
    "    @hookimpl\n"
    "    def rlk_update_end(self): ...\n"
)


def test_the_arguments_of_a_class_of_hooks_are_settings(file):
    file.write_text(HOOKS)
    component = component_at(f"{file}:Mine")
    config = settings.structure(component.config, {"every": 5, "levels": [3, 4]}, "it")
    assert component.kind == "extensions"
    assert component.load()(config).given == (5, (3, 4), None)
    assert settings.names(component.config) == ["every", "levels"], "no file can hold the others"
    with pytest.raises(PlanError, match="needs every"):
        settings.structure(component.config, {}, "it")


def test_they_are_given_on_the_command_line(file):
    file.write_text(HOOKS)
    plugins = [f"{file}:Mine:every=5"]
    plan = resolve(default_kernel(), make_spec("dqn", {"env": "CartPole-v1", "plugins": plugins}))
    (found,) = [choice for choice in plan.extensions if choice.name == "Mine"]
    assert found.make().given == (5, (1, 2), None)
