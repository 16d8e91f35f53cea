"""The attributes of an environment: its state, which is saved, and what a new one remakes.

A new environment remakes spaces, dtypes, code, and what draws pictures or writes logs, alone or in
a container of nothing else. Of a space the random generator is saved, in `env_state`. What wrappers
and `gymnasium.make` know an environment by (`left_out`) is neither saved nor compared.
"""

from __future__ import annotations

import types
import weakref
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import gymnasium as gym
import numpy as np

_LEFT_OUT = ("spec", "_cached_spec", "metadata", "_metadata", "_saved_kwargs", "render_mode")
_CODE = (type, types.FunctionType, types.MethodType, types.BuiltinFunctionType, types.ModuleType)
#: How many levels of containers are searched for code, spaces and members of an Enum.
LEVELS = 3
#: Their classes draw, play sounds or write; others of these packages (vectors, sprites) are state.
_TOOLS = {
    "pygame": (
        *("Surface", "Clock", "Font", "Window", "Renderer", "Texture", "PixelArray", "Sound"),
        *("Channel", "Color", "Cursor", "Joystick"),
    ),
    "PIL": ("Image", "ImageDraw", "FreeTypeFont", "ImageFont", "TransposedFont"),
}
#: Packages of nothing but such classes, with the modules that are something else.
_TOOL_PACKAGES = {"logging": (), "pyglet": ("pyglet.math",)}


def layers(env: gym.Env[Any, Any]) -> Iterator[gym.Env[Any, Any]]:
    """An environment, and all environments inside it."""
    yield env
    while isinstance(env, gym.Wrapper):
        env = env.env
        yield env


def left_out(layer: object) -> tuple[str, ...]:
    """The names of attributes that are neither state nor remade, whatever they hold."""
    return (*_LEFT_OUT, "env") if isinstance(layer, gym.Wrapper) else _LEFT_OUT


def state(layer: object) -> dict[str, Any]:
    """The attributes of a layer that are its state, by name."""
    return {key: value for key, value in _named(layer) if not is_remade(value)}


def remade(layer: object) -> dict[str, Any]:
    """The attributes of a layer that a new one makes by itself, by name."""
    return {key: value for key, value in _named(layer) if is_remade(value)}


def _named(layer: object) -> Iterator[tuple[str, Any]]:
    others = left_out(layer)
    return ((key, value) for key, value in vars(layer).items() if key not in others)


def is_remade(value: Any, level: int = 0) -> bool:
    """Whether a new environment makes this value, or all values of this container, by itself."""
    if isinstance(value, list | tuple | dict) and value:
        return level < LEVELS and all(is_remade(part, level + 1) for part in parts(value))
    return isinstance(value, (gym.Space, np.dtype, *_CODE)) or _is_tool(value)


def _is_tool(value: Any) -> bool:
    for kind in type(value).__mro__:
        package = kind.__module__.partition(".")[0]
        if kind.__name__ in _TOOLS.get(package, ()):
            return True
        if package in _TOOL_PACKAGES and kind.__module__ not in _TOOL_PACKAGES[package]:
            return True
    return False


def parts(container: Any) -> Iterable[Any]:
    """The values of a list, tuple or dict."""
    return container.values() if isinstance(container, dict) else container


def code_in(value: Any) -> list[Any]:
    """The functions, methods and classes in a value that is remade; modules are no state."""
    if isinstance(value, list | tuple | dict):
        return [code for part in parts(value) for code in code_in(part)]
    is_code = isinstance(value, _CODE) and not isinstance(value, types.ModuleType)
    return [value] if is_code else []


def references(code: Iterable[Any]) -> list[Callable[[], Any]]:
    """Weak references to functions, methods and classes.

    Not `weakref.WeakMethod`: its callback fails where a method's object and function are collected
    together.
    """
    return [_method(one) if hasattr(one, "__func__") else weakref.ref(one) for one in code]


def _method(method: Any) -> Callable[[], Any]:
    owner, function = weakref.ref(method.__self__), weakref.ref(method.__func__)

    def found() -> Any:
        code, whose = function(), owner()
        return None if code is None or whose is None else types.MethodType(code, whose)

    return found


def generators_in(layer: object) -> dict[str, np.random.Generator]:
    """The random generators of a layer's spaces, as far as there are any yet, by path."""
    spaces = spaces_in(layer)
    return {path: space._np_random for path, space in spaces if space._np_random is not None}


def spaces_in(layer: object) -> Iterator[tuple[str, gym.Space[Any]]]:
    """Every space of a layer, and every space in it, with the path to it.

    A class may have spaces, too, which all of its environments share.
    """
    own = remade(layer)
    if not isinstance(layer, gym.Wrapper):
        for name in ("action_space", "observation_space"):
            own.setdefault(name, getattr(type(layer), name, None))
    for key, value in own.items():
        yield from _spaces(value, key)


def _spaces(value: Any, path: str) -> Iterator[tuple[str, gym.Space[Any]]]:
    if isinstance(value, gym.Space):
        yield path, value
        inner: list[tuple[Any, Any]] = list(vars(value).items())
    elif isinstance(value, dict):
        inner = list(value.items())
    else:
        inner = list(enumerate(value)) if isinstance(value, list | tuple) else []
    for key, part in inner:
        if isinstance(part, gym.Space | dict | list | tuple):
            yield from _spaces(part, f"{path}.{key}")
