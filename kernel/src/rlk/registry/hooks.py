"""The plugin manager of one run: which objects answer hooks, in a typed wrapper around pluggy's.

A run has a manager of its own, else what one run activated would answer in the next."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

import pluggy

from rlk.errors import BrokenPlugin, UnknownName
from rlk.hookspecs import Specs

if TYPE_CHECKING:
    from rlk.planning.plan import Choice

Listener = Callable[..., Any]
HOOKS = [name for name in vars(Specs) if name.startswith("rlk_")]
#: Who listens to these is asked once, when a run is built.
LIFECYCLE = HOOKS[HOOKS.index("rlk_training_start") : HOOKS.index("rlk_training_end") + 1]


class Hooks:
    """Activated plugins and what they answer."""

    def __init__(self) -> None:
        self._manager = pluggy.PluginManager("rlk")
        self._manager.add_hookspecs(Specs)

    def activate(self, plugin: object, name: str, owner: str = "this program") -> None:
        """Lets an object answer hooks, if all that it marks are hooks of rlk's."""
        try:
            self._manager.register(plugin, name=name)
            self._manager.check_pending()
        except (pluggy.PluginValidationError, ValueError) as error:
            if self._manager.has_plugin(name):
                self._manager.unregister(name=name)
            cause = str(error).splitlines()[-1].strip() if str(error) else type(error).__name__
            if unknown := re.match(r"unknown hook '(\w+)'", cause):
                cause = str(UnknownName("hook", unknown[1], HOOKS))
            raise BrokenPlugin(f"plugin {name!r} ({owner}) is broken: {cause}") from error

    def get(self, name: str) -> Any:
        """The plugin activated under that name, or None."""
        return self._manager.get_plugin(name)

    def historic(self, hook: str, **arguments: Any) -> None:
        """Calls a historic hook now and for every plugin that is activated later."""
        getattr(self._manager.hook, hook).call_historic(kwargs=arguments)

    def first(self, hook: str, **arguments: Any) -> Any:
        """The first answer to a firstresult hook, or None."""
        return getattr(self._manager.hook, hook)(**arguments)

    def all(self, hook: str, **arguments: Any) -> list[Any]:
        """Every answer that is not None, in the order of activation; lists are joined."""
        found = reversed(getattr(self._manager.hook, hook)(**arguments))
        return [one for answer in found for one in (answer if type(answer) is list else [answer])]

    def answers(self, hook: str, **arguments: Any) -> list[tuple[str, Any]]:
        """(plugin name, answer) of every plugin that answers."""
        asked = [(name, function(**arguments)) for name, function in self.listeners(hook)]
        return [(name, answer) for name, answer in asked if answer is not None]

    def listeners(self, hook: str) -> list[tuple[str, Listener]]:
        """(plugin name, function of the hook's keyword arguments) of all that implement it, as
        activated, `tryfirst` before and `trylast` after all others."""
        found = getattr(self._manager.hook, hook).get_hookimpls()
        for one in found:
            if one.wrapper or one.hookwrapper:
                raise BrokenPlugin(
                    f"plugin {one.plugin_name!r} implements {hook} as a wrapper; it is called "
                    "directly and takes plain functions."
                )
        found = sorted(found, key=lambda one: bool(one.trylast) - bool(one.tryfirst))
        return [(one.plugin_name, _direct(one.function, tuple(one.argnames))) for one in found]


def activated(choices: Iterable[Choice]) -> Hooks:
    """A manager with those components that answer hooks, made anew."""
    hooks = Hooks()
    for choice in choices:
        if choice.kind in ("extensions", "callbacks", "loggers"):
            hooks.activate(choice.make(), choice.name, choice.owner)
    return hooks


def _direct(function: Listener, names: tuple[str, ...]) -> Listener:
    """The function, taking only the arguments that it names."""
    return lambda **arguments: function(*[arguments[name] for name in names])
