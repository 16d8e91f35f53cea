"""What to type instead of an unknown option: most often it is a setting.

Users of Stable Baselines and other libraries write `--gamma 0.9`; here that is `--set gamma=0.9`,
so that an option of a command never conflicts with a setting of a plugin.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import click

from rlk import settings
from rlk.command_line import command_line
from rlk.component import Component
from rlk.errors import SHOWN, BrokenPlugin, nearest
from rlk.planning.run_settings import RUN_SETTINGS
from rlk.registry.kernel import default_kernel
from rlk.registry.kinds import SLOTS
from rlk_cli.words_of_the_zoos import COMMANDS, SETTINGS, typed_instead


def explained(error: click.NoSuchOption, arguments: Sequence[str]) -> click.UsageError:
    """The error with what to type, if the option is the name of a setting.

    Args:
        error: as click raised it.
        arguments: the whole command line.
    """
    params = error.ctx.command.params if error.ctx else []
    key = error.option_name.lstrip("-").replace("-", "_")
    value = _value(error.option_name, arguments)
    by_name = [param.opts[0] for param in params if param.name == key and param.opts]
    takes_settings = any("--set" in param.opts for param in params)
    typed = [f"{option} {value}" for option in by_name]
    if not typed and takes_settings and error.ctx:
        typed = typed_instead(key, value, error.ctx)
    if not typed and takes_settings:
        keys = _settings(key, _given("--algo", arguments))
        typed = [command_line(["--set", f"{found}={value}"]) for found in keys]
    if not typed:
        near = nearest(error.option_name, [option for param in params for option in param.opts])
        return click.NoSuchOption(error.option_name, possibilities=near, ctx=error.ctx)
    instead = " or ".join(typed[:SHOWN])
    return click.UsageError(f"No such option {error.option_name!r}. Type: {instead}", error.ctx)


def explained_command(error: click.NoSuchCommand) -> click.UsageError:
    """The error with what to type, if the command is a script of the zoos."""
    if error.command_name not in COMMANDS:
        return error
    text = f"No such command {error.command_name!r}. Type: {COMMANDS[error.command_name]}"
    return click.UsageError(text, error.ctx)


def _settings(key: str, algo: str) -> list[str]:
    """The dotted keys of settings with that name, those of the algorithm first."""
    registries = default_kernel().registries
    if key in RUN_SETTINGS:
        return [key]
    own = [name for name in registries.algorithms.names() if algo in ("", name)]
    known = {name for algorithm in own for name in _names(algorithm, "algorithms")}
    if key in known:
        return [key]
    renamed = [name for name in SETTINGS.get(key, ()) if name in known]
    others = renamed or [*_of_slots(key), *_of_plugins(key)]
    return others or nearest(key, known)


def _of_slots(key: str) -> Iterator[str]:
    """`policy.layers`: a component that fills the slot may have that setting."""
    for slot, kind in SLOTS.items():
        names = default_kernel().registries[kind].names()
        if any(key in _names(name, kind) for name in names):
            yield f"{slot}.{key}"


def _of_plugins(key: str) -> Iterator[str]:
    """`evaluation.every`, for components that fill no slot."""
    for registry in default_kernel().registries:
        if registry.kind not in (*SLOTS.values(), "algorithms"):
            yield from (
                f"{name}.{key}" for name in registry.names() if key in _names(name, registry.kind)
            )


def _names(name: str, kind: str) -> list[str]:
    """The settings of a component; none if it is broken."""
    try:
        component: Component = default_kernel().registries[kind].get(name).component()
    except BrokenPlugin:
        return []
    return settings.names(component.config)


def _value(option: str, arguments: Sequence[str]) -> str:
    """The value that was typed for an option."""
    return _given(option, arguments) or "VALUE"


def _given(option: str, arguments: Sequence[str]) -> str:
    """The text after an option on a command line; empty if there is none."""
    for argument, following in zip(arguments, [*arguments[1:], ""], strict=True):
        name, has_value, value = argument.partition("=")
        if name == option:
            return value if has_value else following if not following.startswith("--") else ""
    return ""
