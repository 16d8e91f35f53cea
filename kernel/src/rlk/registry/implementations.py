"""Which hooks an object implements, and why some of its methods would never be called."""

from __future__ import annotations

import functools
import inspect
import types
import weakref
from typing import Any

from rlk.errors import UnknownName, nearest
from rlk.hookspecs import Specs

#: The name of every hook.
HOOKS = [name for name in vars(Specs) if name.startswith("rlk_")]
#: The attribute that `hookimpl` sets on a function.
MARK = "rlk_impl"
#: How an argument is passed that pluggy finds by its name.
_POSITIONAL = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
#: Where the hooks are described.
SEE = "All hooks: help(rlk.hookspecs.Specs)"
#: Classes whose hooks were in order: every run activates new objects of the same ones.
_IN_ORDER: weakref.WeakSet[type] = weakref.WeakSet()


def fault(plugin: object) -> str | None:
    """What is wrong with an object as a plugin, as `is broken: …`, or None.

    The hooks of a class are looked at once; functions that an object has of its own, always.
    """
    of_its_own = getattr(plugin, "__dict__", {}).values()
    if type(plugin) in _IN_ORDER and not any(map(inspect.isroutine, of_its_own)):
        return None
    problem = why_not_called(plugin)
    if problem:
        return f"would have no effect: {problem}"
    problem = _unknown_hook(plugin) or wrong_signature(plugin)
    if problem:
        return f"is broken: {problem}"
    if not isinstance(plugin, (type, types.ModuleType)):
        _IN_ORDER.add(type(plugin))
    return None


def why_not_called(plugin: object) -> str | None:
    """Why an object, a class or a module, or a part of it, would never be called; else None.

    A method is called if it has the name of a hook *and* the mark. A method with only the name is
    always refused, because nobody would write it unless it should be called.
    """
    found = _functions(plugin)
    marked = {name for name, function in found.items() if hasattr(function, MARK)}
    name = _name(plugin)
    for hook in HOOKS:
        if hook in found and hook not in marked:
            return f"{name}.{hook} is not marked as a hook: write @rlk.hookimpl above it"
    if marked:
        return None
    if inspect.isroutine(plugin) and name in HOOKS:
        where = "a method of a class, or in a module, that is passed"
        return f"{name!r} is a function: mark it with @rlk.hookimpl and make it {where}"
    if "as_setting" in found:  # see `rlk.settings.HeldByFiles`
        return f"it is the value of a setting. Pass it to that one, such as action_noise={name}(…)"
    for own in found:
        meant = _meant(own)
        if meant:
            near = f"{own!r} is not a hook, the nearest is {meant}"
            return f"it implements no hook. {near}: call it that, and mark it with @rlk.hookimpl"
    reason = "it implements no hook (a method such as rlk_step, marked with @rlk.hookimpl)"
    if inspect.isroutine(plugin):
        made = f"rlk.Component(name='mine', kind='wrappers', factory={name})"
        return f"{reason}. A function that makes a component, such as a wrapper, says so: {made}"
    return f"{reason}. {SEE}"


def _unknown_hook(plugin: object) -> str | None:
    """That a function with the mark has the name of no hook, with the nearest one, or None."""
    for name, function in _functions(plugin).items():
        if hasattr(function, MARK) and name not in HOOKS:
            return str(UnknownName("hook", name, HOOKS, SEE))
    return None


def wrong_signature(plugin: object) -> str | None:
    """What is wrong with the signature of a hook that an object implements, or None.

    A hook is passed the arguments that it names before any `*` and that have no default.
    """
    for hook in implemented(plugin):
        where = f"{_name(plugin)}.{hook}"
        passed = _passed(hook)
        try:
            taken = inspect.signature(getattr(plugin, hook)).parameters
        except ValueError:  # inspect raises this for a method without arguments
            return f"{where} takes no self: write def {hook}({', '.join(passed)})"
        if _is_deferred(getattr(plugin, hook)):
            return f"{where} has a yield or is async, so that a call of it runs nothing"
        for name, one in taken.items():
            is_wanted = one.default is one.empty and one.kind in _POSITIONAL
            if is_wanted and name not in (*passed, "self"):
                return f"{where} takes {name!r}, and is only passed {', '.join(passed[1:])}"
            if one.kind is one.KEYWORD_ONLY and one.default is one.empty:
                return f"{where} takes {name!r} by keyword alone: leave out the *"
            if name in passed and one.default is not one.empty:
                return f"{where} has a default for {name!r}: leave it out, or it is not passed"
    return None


def _is_deferred(function: Any) -> bool:
    """Whether a call of it runs nothing yet, as a hook wrapper of pluggy."""
    kinds = (inspect.isgeneratorfunction, inspect.iscoroutinefunction, inspect.isasyncgenfunction)
    return any(is_one(function) for is_one in kinds)


def implemented(plugin: object) -> list[str]:
    """The names of the hooks that an object implements."""
    found = _functions(plugin)
    return [name for name in HOOKS if hasattr(found.get(name), MARK)]


@functools.cache
def _passed(hook: str) -> tuple[str, ...]:
    """The names of the arguments of a hook; every run asks for them."""
    return tuple(inspect.signature(vars(Specs)[hook]).parameters)


def _meant(name: str) -> str | None:
    """The hook that a method may have been meant for: `on_step` and `rlk_stp` for rlk_step."""
    if name.startswith("rlk_"):
        return next(iter(nearest(name, HOOKS)), None)
    hook = f"rlk_{name.lstrip('_').removeprefix('on_')}"
    return hook if hook in HOOKS else None


def _functions(plugin: object) -> dict[str, Any]:
    """The functions and methods of an object by name; its properties are not evaluated."""
    names = (name for name in dir(plugin) if not name.startswith("__"))
    found = {name: inspect.getattr_static(plugin, name, None) for name in names}
    plain = {name: getattr(value, "__func__", value) for name, value in found.items()}
    return {name: value for name, value in plain.items() if inspect.isroutine(value)}


def _name(plugin: object) -> str:
    return str(getattr(plugin, "__name__", type(plugin).__name__))
