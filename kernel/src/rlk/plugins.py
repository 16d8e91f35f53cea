"""The plugin manager of one run.

Which objects answer hooks, in a typed wrapper around pluggy's relay.

A run has a manager of its own, else what one run activated would answer in the next. Lifecycle
hooks are
called directly: `listeners` asks pluggy once who implements one and returns plain functions.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pluggy

from rlk import hookspecs
from rlk.errors import BrokenPlugin

Listener = Callable[..., Any]


class Hooks:
    """Activated plugins and what they answer."""

    def __init__(self) -> None:
        self._manager = pluggy.PluginManager("rlk")
        self._manager.add_hookspecs(hookspecs)

    def activate(self, plugin: object, name: str, owner: str = "this program") -> None:
        """Lets an object answer hooks.

        Raises:
            BrokenPlugin: if it marks a method that is no hook of rlk's, or names arguments that a
                hook has not.
        """
        try:
            self._manager.register(plugin, name=name)
            self._manager.check_pending()
        except (pluggy.PluginValidationError, ValueError) as error:
            if self._manager.has_plugin(name):
                self._manager.unregister(name=name)
            cause = str(error).splitlines()[-1].strip() if str(error) else type(error).__name__
            raise BrokenPlugin(f"plugin {name!r} ({owner}) is broken: {cause}") from error

    def historic(self, hook: str, **arguments: Any) -> None:
        """Calls a historic hook now and for every plugin that is activated later."""
        getattr(self._manager.hook, hook).call_historic(kwargs=arguments)

    def first(self, hook: str, **arguments: Any) -> Any:
        """The first answer to a firstresult hook, or None."""
        return getattr(self._manager.hook, hook)(**arguments)

    def all(self, hook: str, **arguments: Any) -> list[Any]:
        """Every answer that is not None, in the order of activation; lists are joined."""
        answers: list[Any] = []
        for answer in reversed(getattr(self._manager.hook, hook)(**arguments)):
            answers.extend(answer if isinstance(answer, list) else [answer])
        return answers

    def answers(self, hook: str, **arguments: Any) -> list[tuple[str, Any]]:
        """(plugin name, answer) of every plugin that answers, in the order of activation."""
        pairs = []
        for implementation in getattr(self._manager.hook, hook).get_hookimpls():
            given = {name: arguments[name] for name in implementation.argnames}
            answer = implementation.function(**given)
            if answer is not None:
                pairs.append((implementation.plugin_name, answer))
        return pairs

    def tell(self, plugin: str, hook: str, **arguments: Any) -> None:
        """Calls a hook of one plugin, if it implements it."""
        for implementation in getattr(self._manager.hook, hook).get_hookimpls():
            if implementation.plugin_name == plugin:
                implementation.function(*[arguments[name] for name in implementation.argnames])

    def _in_order(self, hook: str) -> list[Any]:
        """Implementations as activated, `tryfirst` before and `trylast` after all others."""
        found = getattr(self._manager.hook, hook).get_hookimpls()
        return sorted(found, key=lambda one: bool(one.trylast) - bool(one.tryfirst))

    def listeners(self, hook: str) -> list[Listener]:
        """The implementations of a lifecycle hook, as functions of its keyword arguments.

        Raises:
            BrokenPlugin: for a hook wrapper, which a direct call cannot honour.
        """
        found = []
        for implementation in self._in_order(hook):
            if implementation.wrapper or implementation.hookwrapper:
                raise BrokenPlugin(
                    f"plugin {implementation.plugin_name!r} implements {hook} as a wrapper; "
                    "lifecycle hooks are "
                    "called directly and take plain functions."
                )
            found.append(_direct(implementation.function, tuple(implementation.argnames)))
        return found


def _direct(function: Listener, names: tuple[str, ...]) -> Listener:
    """The function, taking only the arguments that it names."""
    if not names:
        return lambda **arguments: function()
    return lambda **arguments: function(*[arguments[name] for name in names])
