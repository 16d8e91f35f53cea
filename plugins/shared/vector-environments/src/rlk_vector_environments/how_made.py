"""Notes how environments were made, which tells settings from state.

What the constructor set and nothing has changed since is a setting. A resumed run may have other
settings, and these apply. Backends note every environment right after it was made; only digests are
kept, so that a list that is changed in place is found, and nothing keeps the environment alive.
"""

from __future__ import annotations

import functools
import json
import sys
import weakref
from collections.abc import Callable, Iterator
from enum import Enum, EnumMeta
from typing import Any, NamedTuple

import gymnasium as gym

from rlk_vector_environments import attributes
from rlk_vector_environments.state_values import UNKNOWN, digest, encoded_alone, texts


class Made(NamedTuple):
    """How one layer, an environment or a wrapper, was made."""

    digests: dict[str, str]  #: of every attribute of its state that can be saved
    texts: dict[str, set[str]]  #: in these attributes
    #: By attribute that is remade: weak references to its functions and classes.
    code: dict[str, list[Callable[[], Any]]]
    enums: dict[str, type[Enum]]  #: the classes of Enum that it knows, by name
    generators: dict[str, str]  #: digests of the random generators of its spaces, by path
    settings: str | None  #: of the environment and its wrappers, as one text; None if unknown


_NOTES: dict[int, tuple[weakref.ref[Any], Made]] = {}


def note(env: Any, settings: Any = None) -> None:
    """Note how an environment and its wrappers were made, unless they were noted before.

    Args:
        env: the outermost wrapper.
        settings: with which they were made, in JSON's types; None if that is not known.
    """
    text = None if settings is None else json.dumps(settings, sort_keys=True)
    for layer in _chain(env):
        if of(layer) is None and hasattr(type(layer), "__weakref__"):
            reference = weakref.ref(layer, functools.partial(_forget, id(layer)))
            _NOTES[id(layer)] = reference, _now(layer, text)


def _forget(key: int, _: object) -> None:
    """Drop the note of a layer that is gone."""
    _NOTES.pop(key, None)


def of(layer: object) -> Made | None:
    """How a layer was made; None if it was not noted."""
    reference, made = _NOTES.get(id(layer), (None, None))
    return made if reference is not None and reference() is layer else None


def _now(layer: object, settings: str | None) -> Made:
    enums = enums_of(layer)
    nodes = {key: encoded_alone(value, enums) for key, value in attributes.state(layer).items()}
    return Made(
        {key: digest(node) for key, node in nodes.items() if node is not UNKNOWN},
        {key: texts(node) for key, node in nodes.items()},
        {
            key: attributes.references(attributes.code_in(value))
            for key, value in attributes.remade(layer).items()
        },
        enums,
        {
            path: digest(encoded_alone(one, {}))
            for path, one in attributes.generators_in(layer).items()
        },
        settings,
    )


def _chain(env: Any) -> Iterator[Any]:
    """The layers, also those inside an adapter that is not a Gymnasium wrapper."""
    seen: set[int] = set()
    while hasattr(env, "__dict__") and id(env) not in seen:
        seen.add(id(env))
        if not isinstance(env, gym.wrappers.PassiveEnvChecker):
            yield env
        env = vars(env).get("env")


def enums_of(layer: object) -> dict[str, type[Enum]]:
    """The classes of Enum that a layer holds, or that its class or its module defines."""
    found: dict[str, type[Enum]] = {}
    module = sys.modules.get(type(layer).__module__)
    _add_enums(vars(layer), found, 0)
    for holder in (*type(layer).__mro__, *([module] if module else ())):
        _add_enums(dict(vars(holder)), found, attributes.LEVELS)
    return found


def _add_enums(container: Any, found: dict[str, type[Enum]], level: int) -> None:
    for value in attributes.parts(container):
        if isinstance(value, Enum | EnumMeta):
            kind: Any = value if isinstance(value, EnumMeta) else type(value)
            found.setdefault(kind.__qualname__, kind)
        elif type(value) in (list, tuple, dict) and level < attributes.LEVELS:
            _add_enums(value, found, level + 1)
