"""The constructors of model classes, as editors and type checkers read them."""

from __future__ import annotations

import ast
import inspect
import math
import sys
from collections.abc import Iterator
from inspect import Parameter
from typing import Any, get_type_hints

import attrs
import pytest

import rlk_baselines
import rlk_sb3
import rlk_sb3_contrib
from rlk.registry.kernel import default_kernel
from rlk.settings import PluginText, default_of
from rlk_baselines import HER, PPO2
from rlk_baselines.argument_types import Schedulable
from rlk_baselines.arguments import Argument, constructor
from rlk_schedules import ScheduleLike

SB2 = [getattr(rlk_baselines, name) for name in rlk_baselines.__all__]
SB3 = [getattr(rlk_sb3, name) for name in ("A2C", "DDPG", "DQN", "PPO", "SAC", "TD3")]
MODELS = [*SB2, *SB3, *(getattr(rlk_sb3_contrib, name) for name in rlk_sb3_contrib.__all__)]
#: The types of settings -> those of arguments, which a program may also give as text or objects.
AS_ARGUMENTS: dict[Any, Any] = {
    ScheduleLike: Schedulable,
    ScheduleLike | None: Schedulable | None,
    PluginText | None: Any,
}


def title(kind: Any) -> str:
    return f"{kind.__module__.partition('.')[0]}-{kind.__name__}"


each_model = pytest.mark.parametrize("kind", MODELS, ids=title)
each_with_an_algorithm = pytest.mark.parametrize(
    "kind", [kind for kind in MODELS if kind is not HER], ids=title
)


def written(kind: type) -> ast.arguments:
    """The parameters in the source of a class's own `__init__`."""
    tree = ast.parse(inspect.getsource(sys.modules[kind.__module__]))
    (found,) = (one for one in tree.body if getattr(one, "name", "") == kind.__name__)
    assert isinstance(found, ast.ClassDef)
    (init,) = (one for one in found.body if getattr(one, "name", "") == "__init__")
    assert isinstance(init, ast.FunctionDef)
    return init.args


def parameters(found: ast.arguments) -> Iterator[tuple[str, Any, object]]:
    """Name, kind and default of each parameter after `self`."""
    defaults = [Parameter.empty] * len(found.args) + [value(one) for one in found.defaults]
    for one, default in zip(found.args[1:], defaults[-len(found.args) + 1 :], strict=True):
        yield one.arg, Parameter.POSITIONAL_OR_KEYWORD, default
    if found.vararg is not None:
        yield found.vararg.arg, Parameter.VAR_POSITIONAL, Parameter.empty
    for one, node in zip(found.kwonlyargs, found.kw_defaults, strict=True):
        default = Parameter.empty if node is None else value(node)
        yield one.arg, Parameter.KEYWORD_ONLY, default
    if found.kwarg is not None:
        yield found.kwarg.arg, Parameter.VAR_KEYWORD, Parameter.empty


def value(node: ast.expr) -> object:
    return eval(ast.unparse(node), {"math": math})


@each_model
def test_a_class_has_in_its_source_what_its_signature_shows(kind: Any) -> None:
    found = written(kind)
    assert not found.posonlyargs and all(one.annotation for one in found.args[1:])
    shown = inspect.signature(kind).parameters.values()
    assert [*parameters(found)] == [(one.name, one.kind, one.default) for one in shown]


def settings(kind: Any) -> Iterator[tuple[str, Any, Any]]:
    """The arguments of a class that are settings: name, config class, and the setting's name."""
    registries = default_kernel().registries
    for name, one in kind.arguments.items():
        owner, _, key = (one.rlk or name).rpartition(".")
        registry, plugin = registries.algorithms, owner or kind.algo
        if owner:
            registry = next(each for each in registries if owner in each)
        config = registry.get(plugin).component().config
        if key in attrs.fields_dict(config):
            yield name, config, key


@each_with_an_algorithm
def test_types_are_those_of_the_settings(kind: Any) -> None:
    types, compared = get_type_hints(kind.__init__), 0
    shown = inspect.signature(kind).parameters.values()
    assert not [one.name for one in shown if isinstance(one.annotation, str)], "no names of types"
    for name, config, key in settings(kind):
        expected = get_type_hints(config)[key]
        assert types[name] == AS_ARGUMENTS.get(expected, expected), name
        compared += 1
    assert compared >= 9


@pytest.mark.parametrize(
    "kind", [*(kind for kind in SB2 if kind is not HER), rlk_sb3.PPO], ids=title
)
def test_defaults_are_those_of_the_settings(kind: Any) -> None:
    found = {name: (config, key) for name, config, key in settings(kind)}
    shown = {name: kind.arguments[name].default for name in found}
    assert shown == {
        name: default_of(attrs.fields_dict(config)[key]) for name, (config, key) in found.items()
    }
    assert len(found) >= 9


@each_with_an_algorithm
def test_attributes_have_the_types_of_the_arguments(kind: Any) -> None:
    types, of_class = get_type_hints(kind.__init__), get_type_hints(kind)
    known = [name for name in types if name in of_class and name not in ("policy_kwargs", "return")]
    assert {"gamma", "verbose", "seed"} <= {*known}
    assert {name: of_class[name] for name in known} == {name: types[name] for name in known}


def test_an_argument_that_the_constructor_does_not_show_is_refused() -> None:
    def init(self: Any, policy: str, env: Any, gamma: float = 0.99) -> None: ...

    assert constructor(Argument("gamma"))(init).arguments["gamma"].default == 0.99
    with pytest.raises(ValueError, match="init has no parameter gama"):
        constructor(Argument("gama"))(init)


def test_a_class_of_a_program_may_have_a_constructor_of_its_own() -> None:
    class Mine(PPO2):
        def __init__(self, env: Any, scale: float = 1.0) -> None:
            super().__init__("MlpPolicy", env, gamma=0.5 * scale)

    assert [*inspect.signature(Mine).parameters] == ["env", "scale"]
    assert Mine("CartPole-v1", scale=0.5).gamma == 0.25
    assert Mine.arguments == PPO2.arguments


def test_the_arguments_are_listed_among_the_attributes_of_a_model() -> None:
    model = PPO2("MlpPolicy", "CartPole-v1")
    assert {*PPO2.arguments, "policy", "learn"} <= {*dir(model)}
