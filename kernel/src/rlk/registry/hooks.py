"""The plugin manager of one run: a typed wrapper around pluggy's.

Every run has its own manager; otherwise the plugins of one run would be called in the next.
"""

from __future__ import annotations

import contextlib
import itertools
import types
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, NamedTuple

import pluggy

from rlk.errors import BrokenPlugin, PlanError, RlkError, UnknownName
from rlk.hookspecs import Specs, is_lifecycle, takes
from rlk.registry.answers import check_answer
from rlk.registry.implementations import HOOKS, SEE, fault, implemented

Listener = Callable[..., Any]
#: The hooks whose listeners are looked up once, when a run is built, and then called directly.
LIFECYCLE = [name for name in HOOKS if is_lifecycle(vars(Specs)[name])]
#: Which answers to a hook are taken: "one", the "first" or "all".
TAKES = {name: takes(vars(Specs)[name]) for name in HOOKS}


class _Active(NamedTuple):
    """An active plugin, and what messages say of it."""

    plugin: object
    title: str  #: `plugin 'mpi' (rlk-mpi 0.1.0)`
    without_it: str  #: what to type for a run without it


class Hooks:
    """Activated plugins, and calls of their hooks."""

    def __init__(self) -> None:
        # It is not told the specs: `fault` compares every plugin with them, at less cost to a run.
        self._manager = pluggy.PluginManager("rlk")
        self._active: dict[str, _Active] = {}

    def activate(
        self, plugin: object, name: str, owner: str = "this program", without_it: str = ""
    ) -> None:
        """Activate the hooks of an object.

        Args:
            plugin: the object, a class or a module.
            name: what messages call it.
            owner: where it comes from.
            without_it: what to type for a run without it; by default `--plugin no:NAME`.

        Raises:
            BrokenPlugin: if it marks a method that is not a hook, if arguments are not the hook's,
                if it implements no hook, so that it would have no effect, or if its name is taken.
        """
        title = f"plugin {name!r} ({owner})"
        problem = fault(plugin)
        if problem:
            raise BrokenPlugin(f"{title} {problem}.")
        for other, active in self._active.items():
            if active.plugin is plugin:
                raise BrokenPlugin(f"{title} is active already, as {other!r}. Pass it once.")
        if name in self._active:
            raise BrokenPlugin(
                f"{title} has the name of another one, which is active: a plugin of the class "
                f"{type(self.get(name)).__name__}. Give it another name."
            )
        self._active[name] = _Active(plugin, title, without_it or f"--plugin no:{name}")
        held = types.ModuleType(name)  # pluggy compares by ==, and two plugins may be equal
        vars(held).update({hook: getattr(plugin, hook) for hook in implemented(plugin)})
        self._manager.register(held, name=name)

    def deactivate(self, name: str) -> None:
        """Stop calling the hooks of the plugin of that name."""
        self._manager.unregister(name=name)
        self._active.pop(name, None)

    def get(self, name: str) -> Any:
        """The plugin that was activated under that name, or None."""
        found = self._active.get(name)
        return None if found is None else found.plugin

    def active(self) -> list[Any]:
        """All plugins that are active now, in the order of activation."""
        return [one.plugin for one in self._active.values()]

    def only(self, hook: str, **arguments: Any) -> Any:
        """The answer to a hook marked `one_answer` or `first_answer`, or None.

        Of the first kind, those with `tryfirst` are asked before all others, and those with
        `trylast` after them, each time together; of the second, each is asked by itself, in the
        order of `listeners`. Where one of them answers, those after it are not asked.

        Raises:
            PlanError: if two answer that are asked together.
            BrokenPlugin: for an answer that the hook does not accept.
        """
        turn = _TURNS[TAKES[hook]]
        for _, together in itertools.groupby(self._implementations(hook), turn):
            answers: dict[str, Any] = {}
            with contextlib.ExitStack() as opened:
                for one in together:
                    with _naming(one.plugin_name, hook):
                        answer = _by_keyword(one.function, one.argnames)(**arguments)
                    if answer is not None:
                        if hasattr(answer, "close"):
                            opened.callback(answer.close)
                        check_answer(hook, answer, one.plugin_name)
                        answers[one.plugin_name] = answer
                if len(answers) > 1:
                    raise self._several(hook, answers)
                opened.pop_all()
            if answers:
                return next(iter(answers.values()))
        return None

    def _several(self, hook: str, names: Iterable[str]) -> PlanError:
        """The error for several plugins that answer a hook which one may answer."""
        several = {name: self._active[name] for name in names}
        titles = " and ".join(one.title for one in several.values())
        without = " ".join(f"Without {name!r}: {one.without_it}." for name, one in several.items())
        return PlanError(f"{titles} each answer {hook}, and a run takes one answer. {without}")

    def answers(self, hook: str, **arguments: Any) -> list[tuple[str, Any]]:
        """Every answer that is not None, with the name of the plugin that gave it.

        They come in the order of `listeners`. If an answer is a list, every member counts as one.

        Raises:
            BrokenPlugin: for an answer that the hook does not accept.
        """
        found = []
        for name, function in self.listeners(hook):
            with _naming(name, hook):
                answer = function(**arguments)
            for one in answer if type(answer) is list else [answer]:
                if one is not None:
                    check_answer(hook, one, name)
                    found.append((name, one))
        return found

    def by_plugin(self, hook: str, **arguments: Any) -> dict[str, Any]:
        """Every answer that is not None, by the name of its plugin.

        Raises:
            BrokenPlugin: for an answer that the hook does not accept, or a second one of a plugin.
        """
        found: dict[str, Any] = {}
        for name, answer in self.answers(hook, **arguments):
            if name in found:
                raise BrokenPlugin(
                    f"plugin {name!r} answered {hook} with a list of several, of which one can be "
                    "kept. Return a single one."
                )
            found[name] = answer
        return found

    def all(self, hook: str, **arguments: Any) -> list[Any]:
        """The answers without the names of the plugins."""
        return [answer for _, answer in self.answers(hook, **arguments)]

    def listeners(self, hook: str) -> list[tuple[str, Listener]]:
        """The implementations of a hook, to be called with keywords, with their plugins' names.

        They come in the order of activation, `tryfirst` before and `trylast` after all others.
        """
        found = self._implementations(hook)
        return [(one.plugin_name, _by_keyword(one.function, one.argnames)) for one in found]

    def implementers(self, hook: str) -> list[str]:
        """The plugins that implement a hook, in the order of `listeners`."""
        return [one.plugin_name for one in self._implementations(hook)]

    def _implementations(self, hook: str) -> list[pluggy.HookImpl]:
        if hook not in TAKES:
            raise UnknownName("hook", hook, HOOKS, SEE)
        caller: pluggy.HookCaller | None = getattr(self._manager.hook, hook, None)
        return sorted(caller.get_hookimpls(), key=_turn) if caller else []


@contextlib.contextmanager
def _naming(plugin: str, hook: str) -> Iterator[None]:
    """Let an exception name the plugin that raised it in that hook, in its first note."""
    try:
        yield
    except RlkError:
        raise
    except Exception as error:
        if not getattr(error, "__notes__", None):  # a component that the plugin makes comes first
            error.add_note(f"plugin {plugin!r} raised this, in {hook}")
        raise


def _turn(implementation: pluggy.HookImpl) -> int:
    """When it is called: -1 with `tryfirst`, 1 with `trylast`, 0 otherwise."""
    return bool(implementation.trylast) - bool(implementation.tryfirst)


#: By which answers a hook takes: the implementations for which this is equal are asked together.
_TURNS: Mapping[str, Callable[[pluggy.HookImpl], int]] = {"one": _turn, "first": id}


def _by_keyword(function: Listener, names: tuple[str, ...]) -> Listener:
    """The function, wrapped so that it gets only the keywords that it names."""
    return lambda **arguments: function(*map(arguments.__getitem__, names))
