"""What must be passed again to use a saved run, because a file must not run code by itself.

The name of an installed component is enough. Code at a place (`./file.py:Class`) is named
again on the command line, and an object can be passed only by a program.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from rlk import settings
from rlk.plain_values import object_in, plain_setting
from rlk.planning.parse import parse_value, typed_value
from rlk.registry.external import PASSED, is_code_place
from rlk.registry.kinds import SLOTS, is_group_slot, singular
from rlk.restoring.lost_settings import COMPUTING, chosen_fields
from rlk.restoring.named_code import code_in, environment_names_code

if TYPE_CHECKING:
    from rlk.planning.choice import Choice
    from rlk.planning.environment import EnvChoice
    from rlk.planning.plan import Plan


class ToPassAgain(NamedTuple):
    """What a command that uses a run needs besides the run's folder."""

    typed: list[tuple[str, str]]  #: options with their values
    objects: list[tuple[str, str]]  #: what only a program can pass: keys, and what to write there

    @property
    def options(self) -> list[str]:
        """What to type, as words of a command line."""
        return [word for pair in self.typed for word in pair]

    @property
    def keywords(self) -> list[str]:
        """All of it, options too, as a program passes it to `rlk.load`."""
        given = [_in_python(option, value) for option, value in self.typed] + self.objects
        plugins = [text for key, text in given if key == _PLUGINS]
        others = [(key, text) for key, text in given if key != _PLUGINS]
        found = [f"{key}={text}" for key, text in others if key.isidentifier()]
        dotted = [f"{key!r}: {text}" for key, text in others if not key.isidentifier()]
        found += [f"settings={{{', '.join(dotted)}}}"] if dotted else []
        return [*found, f"plugins=[{', '.join(plugins)}]"] if plugins else found


_PLUGINS = "plugins"


def to_pass_again(plan: Plan, *, observers: bool) -> ToPassAgain:
    """What must be passed so that the environment and the plugins of a plan are found again.

    Args:
        plan: of the run.
        observers: include components that only watch: a resumed run needs them, acting does not.
    """
    found = [*_of_environment(plan.env)]
    for choice in plan.choices():
        if observers or choice.kind not in ("callbacks", "loggers"):
            if observers:
                found += _of_marked_settings(choice)
            found += _of_component(choice)
    typed = [one for one in found if one[0].startswith("--")]
    return ToPassAgain(typed, [*dict.fromkeys(one for one in found if one not in typed)])


# All of these give options with their values, and keys of what only a program can pass.


def _of_environment(env: EnvChoice) -> Iterator[tuple[str, str]]:
    """The environment itself, and keywords that name code."""
    if env.again is None:
        name = getattr(env.maker, "__name__", "")
        yield "env", name if name.isidentifier() else "…"
    elif env.again:
        yield "--env", env.again
    for key, value in env.kwargs.items():
        if code_in(plain := plain_setting(value)) is not None:
            yield "--set", f"env.{key}={typed_value(plain)}"


def _of_marked_settings(choice: Choice) -> Iterator[tuple[str, str]]:
    """Settings that name a file to write to, or an environment of their own, or its keywords."""
    config, values = choice.component.config, settings.unstructure(choice.config)
    for name in chosen_fields(config, "written", values):
        if values[name] is not None:
            yield "--set", f"{choice.name}.{name}={typed_value(values[name])}"
    for name in chosen_fields(config, "environment", values):
        if object_in(values[name]) is not None:
            yield f"{choice.name}.{name}", "…"
        elif environment_names_code(values[name]):
            yield "--set", f"{choice.name}.{name}={typed_value(values[name])}"


def _of_component(choice: Choice) -> Iterator[tuple[str, str]]:
    """A component from a place or an object, and the functions that a network is made with."""
    role = choice.role
    if is_code_place(choice.dist) and (role in SLOTS or is_group_slot(role)):
        yield "--set", f"{role}={choice.dist}"
    elif is_code_place(choice.dist):
        yield "--plugin", choice.dist
    elif choice.dist == PASSED and role in SLOTS:
        yield role, choice.name if choice.name.isidentifier() else "…"
    elif choice.dist == PASSED and role != singular("extensions"):
        yield _PLUGINS, "…"
    if role in COMPUTING:
        for key, value in settings.unstructure(choice.config).items():
            if object_in(value) is not None:
                yield f"{role}.{key}", "…"


def _in_python(option: str, value: str) -> tuple[str, str]:
    """The key of `--env`, `--plugin` or `--set`, and its value as Python has it."""
    if option != "--set":
        return {"--env": "env", "--plugin": _PLUGINS}[option], repr(value)
    key, _, text = value.partition("=")
    return key, repr(parse_value(text))
