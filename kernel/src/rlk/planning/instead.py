"""What to type instead of a word that rlk does not know, for the command line and for Python."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import attrs

from rlk.command_line import command_line
from rlk.component import Component
from rlk.planning.choice import Choice
from rlk.planning.parse import parse_value, split_at_commas, typed_value
from rlk.registry.kinds import STACKED

#: Stands for a value that nobody gave, or that is an object.
VALUE = "VALUE"
#: What is said of a word that switches off what is off.
OFF = "it is off unless you ask for it. Leave it out."


@attrs.frozen
class Instead:
    """Settings and plugins that do what a word of another library does."""

    settings: Mapping[str, Any] = attrs.field(factory=dict)  #: values by dotted key
    plugins: Mapping[str, Mapping[str, Any]] = attrs.field(factory=dict)  #: settings by name
    sentences: tuple[str, ...] = ()  #: what is said besides

    @classmethod
    def said(cls, sentence: str) -> Instead:
        """A sentence, with nothing to type."""
        return cls(sentences=(sentence,))

    @classmethod
    def of_choice(cls, choice: Choice, values: Mapping[str, Any]) -> Instead:
        """Settings of a component that is in the run."""
        if not values:
            return cls.said(f"{choice.name} is in this run already. Leave it out.")
        if not choice.slot or choice.slot in STACKED or choice.component.stages:
            return cls(plugins={choice.name: values})
        prefix = "" if choice.slot == "algorithm" else f"{choice.slot}."
        return cls({f"{prefix}{key}": value for key, value in values.items()})

    @classmethod
    def without(cls, component: Component) -> Instead:
        """What leaves a component out of a run that did not ask for it, if anything has to."""
        if component.autostart == "never":
            return cls.said(OFF)
        return cls(plugins={f"no:{component.name}": {}})

    @classmethod
    def joined(cls, several: Iterable[Instead]) -> Instead:
        """All of them together; settings of one plugin are joined."""
        settings: dict[str, Any] = {}
        plugins: dict[str, Mapping[str, Any]] = {}
        sentences: dict[str, None] = {}  # a set that keeps its order
        for one in several:
            settings |= one.settings
            plugins |= {name: {**plugins.get(name, {}), **own} for name, own in one.plugins.items()}
            sentences |= dict.fromkeys(one.sentences)
        return cls(settings, plugins, tuple(sentences))

    def typed(self) -> str:
        """The options of a command line; empty if there is nothing to type."""
        words = [word for plugin in self.typed_plugins() for word in ("--plugin", plugin)]
        for key, value in self.settings.items():
            words += ["--set", f"{key}={_text(value)}"]
        return command_line(words)

    def keywords(self) -> str:
        """The keywords of `rlk.make`; empty if there are none."""
        dotted = {key: value for key, value in self.settings.items() if "." in key}
        words = [f"{key}={value!r}" for key, value in self.settings.items() if key not in dotted]
        words += [f"settings={dotted!r}"] if dotted else []
        words += [f"plugins={[*self.typed_plugins()]!r}"] if self.plugins else []
        return ", ".join(words)

    def __str__(self) -> str:
        is_typed = bool(self.settings or self.plugins)
        typed = [f"use {self.typed()}, or in Python {self.keywords()}."] if is_typed else []
        return " ".join([*typed, *self.sentences])

    def typed_plugins(self) -> Iterator[str]:
        """The plugins with their settings, each as behind `--plugin`."""
        for name, values in self.plugins.items():
            pairs = [f"{key}={_text(value)}" for key, value in values.items()]
            yield f"{name}:{','.join(pairs)}" if pairs else name


def from_record(
    component: Component, word: str, value: Any, given: Mapping[str, Any]
) -> str | dict[str, Any] | None:
    """What a component's record has for a word (`Component.instead_of`).

    Args:
        component: the one that may know it.
        word: the word.
        value: its value.
        given: every word that was given, with its value.

    Returns:
        Settings of the component by name; a sentence; None if the record does not have the word.
    """
    texts = component.instead_of
    text = next((texts[key] for key in _keys(word, value) if key in texts), None)
    if text is None:
        return None
    values = {**given, "value": value}
    if text.endswith("."):
        return text.format_map(_texts(values))
    pairs = [pair.partition("=") for pair in split_at_commas(text) if pair]
    return {key: _filled(template, values) for key, _, template in pairs}


def is_off(component: Component, word: str, value: Any) -> bool:
    """Whether a word has the value None or False, for which a component's record has no text."""
    return (value is None or value is False) and f"{word}={value}" not in component.instead_of


def _keys(word: str, value: Any) -> Iterator[str]:
    """The keys of a record that a word with this value may have, the most special first."""
    yield f"{word}={name_of(value)}"
    is_list = isinstance(value, (list, tuple))
    items = ["{…}" if isinstance(one, Mapping) else one for one in (value if is_list else [value])]
    texts = [one for one in items if isinstance(one, str)]
    if is_list:
        yield from (f"{word}=[…{text}…]" for text in texts)
    if "{…}" in texts:
        yield f"{word}={{…}}"
    yield word


def name_of(value: Any) -> str:
    """The text of a value, of a class its name without its module."""
    text = str(getattr(value, "__name__", value))
    module, _, name = text.rpartition(".")
    return name if module and name[:1].isupper() else text


def _filled(template: str, values: Mapping[str, Any]) -> Any:
    """A value of a record's text: `{word}` alone is the value of that word, as it is."""
    if template.startswith("{") and template[1:-1].isidentifier():
        return values.get(template[1:-1], VALUE)
    return parse_value(template.format_map(_texts(values)))


def _texts(values: Mapping[str, Any]) -> Mapping[str, str]:
    """What to type for each of these values by word, and `VALUE` for a word that nobody gave."""
    return defaultdict(lambda: VALUE, {word: _text(one) for word, one in values.items()})


def _text(value: Any) -> str:
    """What to type for a value; an object has no text."""
    try:
        return typed_value(value)
    except TypeError:
        return VALUE
