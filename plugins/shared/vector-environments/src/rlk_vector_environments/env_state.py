"""The state of one environment, so that a resumed run continues in the middle of an episode.

The wrapper chain is saved layer by layer. If a layer's class has `get_state` and `set_state`, these
are used (and its `np_random` is saved as well); if it has `has_whole_state`, they include the state
of everything inside it. Otherwise a layer's instance attributes are saved: None, numbers, strings,
arrays, generators, and lists, tuples, deques and dicts of those. Spaces, functions and renderers
are not saved: the new environment makes its own. Anything else (a physics engine) is refused,
because a state that is almost right is worse than a new episode. A state is JSON and numpy arrays,
and restoring one runs only `set_state`.
"""

from __future__ import annotations

import types
from collections import deque
from collections.abc import Iterator
from enum import Enum
from typing import Any

import gymnasium as gym
import numpy as np

from rlk.errors import RlkError

_BIT_GENERATORS = ("PCG64", "PCG64DXSM", "MT19937", "Philox", "SFC64")
_SKIPPED = ("env", "spec", "_cached_spec", "metadata", "_metadata", "_saved_kwargs", "render_mode")
_CODE = (type, types.FunctionType, types.MethodType, types.BuiltinFunctionType, types.ModuleType)
_CONFIGURATION = (gym.Space, Enum, np.dtype, *_CODE)


class Unsupported(RlkError):
    """An environment whose state cannot be saved, or a state of another kind of environment."""


def capture(env: gym.Env[Any, Any]) -> dict[str, Any]:
    """The state of an environment and its wrappers, as a copy.

    Raises:
        Unsupported: if a state cannot be captured; names the layer, the attribute and its value.
    """
    layers, seen = list[dict[str, Any]](), dict[int, tuple[int, Any]]()
    for layer in _layers(env):
        name, own = type(layer).__name__, {"get_state", "set_state"} <= set(dir(type(layer)))
        kept = {k: v for k, v in _state(layer).items() if not own or k.startswith("_np_random")}
        attributes = {key: _encode(value, f"{name}.{key}", seen) for key, value in kept.items()}
        layers.append(
            {"class": name, "attributes": attributes, "configuration": _configured(layer)}
        )
        if own:
            state = layer.get_state()  # type: ignore[attr-defined]
            layers[-1]["own"] = _encode(state, f"{name}.get_state()", seen)
    return {"layers": layers}


def restore(env: gym.Env[Any, Any], state: dict[str, Any]) -> None:
    """Restore a captured state into an environment made the same way; it needs no reset before.

    Raises:
        Unsupported: if the wrapper chains differ, or the state is not one of `capture`; then
            nothing has been changed.
    """
    layers = list(_layers(env))
    try:
        taken, decoded = [s["class"] for s in state["layers"]], _decoded(state["layers"])
    except (LookupError, TypeError, ValueError, AttributeError, ArithmeticError) as error:
        damage = f"{type(error).__name__}: {error}"
        raise Unsupported(f"a saved environment state is damaged: {damage}") from error
    found = [type(layer).__name__ for layer in layers]
    if taken != found:
        raise Unsupported(
            f"a state of {' > '.join(map(str, taken))} does not fit {' > '.join(found)}"
        )
    for layer, (attributes, *_) in zip(layers, decoded, strict=True):
        _refuse_foreign(layer, attributes)
    for layer, (attributes, own, configured) in zip(layers, decoded, strict=True):
        # An attribute that held a renderer when it was captured may be None here, and is kept.
        for key in [] if own else _state(layer).keys() - configured:
            del vars(layer)[key]
        vars(layer).update(attributes)
        if own:
            layer.set_state(own[0])  # type: ignore[attr-defined]
    _silence_checker(env)


def _silence_checker(env: Any) -> None:
    """Mark Gymnasium's checker as done: it would compare the next step with a missing reset."""
    while isinstance(env, gym.Wrapper):
        if isinstance(env, gym.wrappers.PassiveEnvChecker):
            env.checked_reset = env.checked_step = True
            if hasattr(env, "checked_data_reuse"):
                env.checked_data_reuse = True
        env = env.env


def _decoded(layers: list[dict[str, Any]]) -> list[tuple[dict[str, Any], list[Any], set[str]]]:
    """For every layer: its attributes, a list with the result of its own `get_state` if it has
    one, and the names of the attributes that a new environment sets up by itself.
    """
    seen: list[Any] = []
    found = []
    for saved in layers:
        attributes = {key: _decode(node, seen) for key, node in saved["attributes"].items()}
        own = [_decode(saved["own"], seen)] if "own" in saved else []
        found.append((attributes, own, set(map(str, saved.get("configuration", ())))))
    return found


def _refuse_foreign(layer: object, attributes: dict[str, Any]) -> None:
    """Raise Unsupported for an attribute that `capture` never saves, such as a method's name."""
    for key in attributes:
        if key in _SKIPPED or callable(getattr(type(layer), key, None)):
            name = type(layer).__name__
            raise Unsupported(f"a saved environment state has {name}.{key}, which is not a state")


def _layers(env: gym.Env[Any, Any]) -> Iterator[gym.Env[Any, Any]]:
    """The environment and its wrappers, without Gymnasium's checker, which changes nothing."""
    inner: Any = env
    while isinstance(inner, gym.Wrapper):
        if not isinstance(inner, gym.wrappers.PassiveEnvChecker):
            yield inner
        if getattr(type(inner), "has_whole_state", False):
            return
        inner = inner.env
    yield inner


def _state(layer: object) -> dict[str, Any]:
    found = vars(layer).items()
    return {k: v for k, v in found if k not in _SKIPPED and not _is_configuration(v)}


def _configured(layer: object) -> list[str]:
    """The attributes that a new environment sets up by itself."""
    return [k for k, v in vars(layer).items() if k not in _SKIPPED and _is_configuration(v)]


def _is_configuration(value: Any) -> bool:
    """Whether a new environment sets up this value, or all values of this container, by itself."""
    if isinstance(value, (list, tuple, dict)) and value:
        return all(map(_is_configuration, value.values() if isinstance(value, dict) else value))
    package = type(value).__module__.partition(".")[0]
    return isinstance(value, _CONFIGURATION) or package in ("pygame", "pyglet", "PIL", "logging")


def _encode(value: Any, where: str, seen: dict[int, tuple[int, Any]]) -> Any:
    """A value as JSON and numpy; an object that occurs twice is restored as one object."""
    kind, is_array = type(value), type(value) is np.ndarray
    if kind in (bool, int, float, str, type(None)):
        return value
    if isinstance(value, np.generic) and value.dtype.kind in "biuf":
        return {"kind": "scalar", "value": np.array(value)}
    if id(value) in seen:
        return {"kind": "same", "as": seen[id(value)][0]}
    if is_array and any(np.may_share_memory(value, o) for _, o in seen.values() if type(o) is kind):
        raise Unsupported(
            f"{where} is a view of another array of the environment, which a copy would not be."
        )
    if kind is not tuple:
        seen[id(value)] = len(seen), value
    if kind in (list, tuple, deque, dict):
        items = [_encode(i, where, seen) for i in (value.items() if kind is dict else value)]
        return {"kind": kind.__name__, "items": items, "maxlen": getattr(value, "maxlen", None)}
    if is_array and value.dtype.kind in "biufSU":
        bare = np.frombuffer(value.tobytes(), np.uint8) if value.dtype.kind in "SU" else value
        layout = {"dtype": value.dtype.str, "shape": list(value.shape)}
        return {"kind": "array", "value": bare.copy(), **layout}
    if kind is np.random.Generator:
        return {"kind": "generator", "state": value.bit_generator.state}
    found = f"{kind.__module__}.{kind.__qualname__}" + (f" of {value.dtype}" if is_array else "")
    raise Unsupported(
        f"{where} holds a {found}. To save it, give that class get_state() and set_state(state)."
    )


def _decode(node: Any, seen: list[Any]) -> Any:
    if not isinstance(node, dict):
        return node
    if (kind := node["kind"]) == "same":
        return seen[node["as"]]
    if kind == "scalar":
        return np.asarray(node["value"])[()]
    if kind == "tuple":
        return tuple(_decode(item, seen) for item in node["items"])
    if kind in ("list", "dict", "deque"):
        made: Any = {"list": [], "dict": {}, "deque": deque(maxlen=node["maxlen"])}[kind]
        seen.append(made)  # before its contents, in the order of `_encode`'s numbers
        (made.update if kind == "dict" else made.extend)(_decode(i, seen) for i in node["items"])
        return made
    if kind == "array" and np.dtype(node["dtype"]).kind in "biufSU":
        seen.append(np.array(node["value"]).view(node["dtype"]).reshape(node["shape"]))
    elif kind == "generator" and node["state"]["bit_generator"] in _BIT_GENERATORS:
        bits = getattr(np.random, node["state"]["bit_generator"])()
        bits.state = node["state"]
        seen.append(np.random.Generator(bits))
    else:
        raise Unsupported(f"a saved environment state holds {kind!r}: made by a newer version?")
    return seen[-1]
