"""What to type instead of an unknown option: most often it is a setting.

Users of Stable Baselines and other libraries write `--gamma 0.9`; here that is `--set gamma=0.9`,
so that an option of a command never conflicts with a setting of a plugin.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from typing import Any

import attrs
import click

from rlk import settings
from rlk.command_line import command_line
from rlk.component import Component
from rlk.errors import SHOWN, BrokenPlugin, RlkError, nearest
from rlk.planning.instead import VALUE, Instead
from rlk.planning.parse import parse_value
from rlk.planning.run_settings import RUN_SETTINGS
from rlk.planning.spec import make_spec
from rlk.planning.words_of_others import WordsOfOthers
from rlk.registry.kernel import default_kernel
from rlk.registry.kinds import LISTS, SLOTS
from rlk_cli.options import given
from rlk_cli.typed_options import TypedOption
from rlk_cli.words_of_the_zoos import PAIRS, command_instead, option_instead


def explained(error: click.NoSuchOption, arguments: Sequence[str]) -> click.UsageError:
    """The error with what to type, if the option is a setting, or a word of another library.

    Args:
        error: as click raised it.
        arguments: the whole command line.
    """
    params = error.ctx.command.params if error.ctx else []
    option = TypedOption.of(error.option_name, arguments)
    value = option.value or VALUE
    typed = [f"{param.opts[0]} {value}" for param in params if param.name == option.key]
    if not typed and error.ctx and any("--set" in param.opts for param in params):
        typed = _instead(option, error.ctx)
    if not typed:
        near = nearest(option.name, [one for param in params for one in param.opts])
        return click.NoSuchOption(option.name, possibilities=near, ctx=error.ctx)
    return click.UsageError(f"No such option {option.name!r}. {_said(typed)}", error.ctx)


def explained_command(error: click.NoSuchCommand) -> click.UsageError:
    """The error with what to type, if the command is a script of the zoos."""
    text = command_instead(error.command_name)
    if text is None:
        return error
    return click.UsageError(f"No such command {error.command_name!r}. {_said([text])}", error.ctx)


def _said(found: Sequence[str]) -> str:
    """Texts to type, or a sentence."""
    if found[0].startswith(("-", "rlk ")):
        return f"Type: {' or '.join(found[:SHOWN])}"
    return found[0][:1].upper() + found[0][1:]


def _instead(option: TypedOption, context: click.Context) -> list[str]:
    """What to use instead of an option that a command lacks: texts to type, or a sentence."""
    key, value = option.key, option.value or VALUE
    if key in PAIRS:
        pairs = option.pairs or {"NAME": VALUE}
        words = [f"{PAIRS[key]}{name}={text}" for name, text in pairs.items()]
        return [command_line(word for pair in words for word in ("--set", pair))]
    text = option_instead(key, value, context, option.others)
    if text is not None:
        return [text]
    if key in RUN_SETTINGS:
        return [_set(key, value)]
    if not any("--storage" in param.opts for param in context.command.params):
        return []  # it does not train
    return _settings(option, _words(context, option.arguments))


def _settings(option: TypedOption, words: WordsOfOthers) -> list[str]:
    """What to use instead of an option that has the name of a setting, or nearly so.

    Args:
        option: the option.
        words: those of the components of this run, if they are known.
    """
    key, text = option.key, option.value or VALUE
    algorithms = [one.component for one in words.choices[:1]] or [*_components("algorithms")]
    own = {name for one in algorithms for name in settings.names(one.config)}
    if key in own:
        return [_set(key, text)]
    table = {name: parse_value(one) for name, one in option.pairs.items()}
    value = table if table and key.endswith("_kwargs") else parse_value(text)
    others = {name: parse_value(one) for name, one in option.others.items() if one}
    for one in (value, True) if value == VALUE else (value,):  # the zoo has switches, too
        found = words.instead(key, one, others)
        if found is not None:
            return [found.typed() or str(found)]
    having = _in_run(key, value, words) if words.choices else _anywhere(key, text)
    return list(dict.fromkeys(having)) or [_set(near, text) for near in nearest(key, own)]


def _in_run(key: str, value: Any, words: WordsOfOthers) -> Iterator[str]:
    """What to type for a setting of a component of the run, or of a plugin that may join it."""
    parts = [one for one in words.choices[1:] if key in settings.names(one.component.config)]
    for part in parts:
        yield Instead.of_choice(part, {key: value}).typed()
    for component in (one for kind in LISTS for one in _components(kind)):
        fields = attrs.fields(component.config) if component.config else ()
        is_alone = all(one.default is not attrs.NOTHING for one in fields)
        if not parts and is_alone and key in settings.names(component.config):
            yield Instead(plugins={component.name: {key: value}}).typed()


def _anywhere(key: str, text: str) -> Iterator[str]:
    """What to type for a setting of any component, where nobody knows those of the run."""
    for slot, kind in SLOTS.items():
        if any(key in settings.names(one.config) for one in _components(kind)):
            yield _set(f"{slot}.{key}", text)
    for component in (one for kind in LISTS for one in _components(kind)):
        if key in settings.names(component.config):
            yield _set(f"{component.name}.{key}", text)


def _components(kind: str) -> Iterator[Component]:
    """The installed components of a kind that are not broken."""
    for entry in default_kernel().registries[kind]:
        with contextlib.suppress(BrokenPlugin):
            yield entry.component()


def _words(context: click.Context, arguments: Sequence[str]) -> WordsOfOthers:
    """The words of the run that the rest of a command line asks for, if it can be planned."""
    rest = list(arguments[len(context.command_path.split()) - 1 :])
    kernel = default_kernel()
    with contextlib.suppress(RlkError, click.ClickException):
        typed = context.command.make_context(
            context.info_name,
            rest,
            ignore_unknown_options=True,
            allow_extra_args=True,
            resilient_parsing=True,
        ).params
        chosen = {name: typed.get(name) for name in ("env", "plugins", *SLOTS)}
        spec = make_spec(typed.get("algo") or "", given(typed.get("pairs") or (), **chosen))
        if spec.algo:
            return WordsOfOthers.of(kernel, spec)
    return WordsOfOthers(kernel.registries)


def _set(key: str, text: str) -> str:
    """The option that gives a setting the value of a text."""
    return command_line(["--set", f"{key}={text}"])
