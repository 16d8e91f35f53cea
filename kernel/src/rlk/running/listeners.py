"""The listeners of a run's lifecycle hooks: looked up once, then called directly."""

from __future__ import annotations

import functools
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from rlk.abilities import WritesLater, offers
from rlk.errors import RlkError
from rlk.registry.answers import check_answer
from rlk.registry.hooks import LIFECYCLE
from rlk.running.rows import giving_numbers
from rlk.terminal import output_is_unread

if TYPE_CHECKING:
    from rlk.registry.hooks import Hooks, Listener
    from rlk.running.failed_writes import FailedWrites

#: By hook, what a plugin cannot do without the file that its listener failed to read or write.
_CANNOT = {"rlk_training_start": "begin", "rlk_prepare_evaluation": "prepare the evaluation"}


def look_up_listeners(
    hooks: Hooks, failed_writes: FailedWrites
) -> dict[str, list[tuple[str, Listener]]]:
    """The listeners of every lifecycle hook, each after the name of its plugin.

    They are called with the keywords of the hook.

    A failed write of a listener is noted and does not end the run, unless what follows would be
    wrong without the plugin (`_CANNOT`); an answer that the hook does not accept is refused; both
    name the plugin. Listeners of `rlk_step` are not wrapped, so that a step takes no longer.
    """
    listeners = {}
    for hook in LIFECYCLE:
        found = hooks.listeners(hook)
        if hook == "rlk_log":
            found = [(name, giving_numbers(listen, name)) for name, listen in found]
        if hook != "rlk_step":
            found = [
                (name, _guarded(listen, hook, name, hooks.get(name), failed_writes))
                for name, listen in found
            ]
        listeners[hook] = found
    return listeners


def call_all(
    listeners: Iterable[tuple[str, Listener]], raised: BaseException | None, **arguments: Any
) -> None:
    """Call listeners, all of them even if one raises; then raise the first error.

    Args:
        listeners: of one hook, each after the name of its plugin.
        raised: an error that is being handled, and raised again by the caller. Errors of the
            listeners are noted on it instead of being raised.
        arguments: for each listener.
    """
    first = raised
    for _, listen in listeners:
        try:
            listen(**arguments)
        except BaseException as error:  # also an interrupt: others still have a model to save
            if first is None:
                first = error
            elif error is not first:
                first.add_note(f"After that, {type(error).__name__} was raised: {error}")
    if first is not raised and first is not None:
        raise first


def _guarded(
    listen: Listener, hook: str, name: str, plugin: object, failed_writes: FailedWrites
) -> Listener:
    """A listener of the plugin of that name, with its failed writes noted and answers checked.

    Failed writes of a plugin that `WritesLater` count until it has written everything.
    """
    writes_later: Any = plugin if offers(plugin, WritesLater) else None

    @functools.wraps(listen)
    def listens(**arguments: Any) -> Any:
        try:
            answer = listen(**arguments)
        except OSError as error:
            if hook in _CANNOT and not output_is_unread(error):
                raise RlkError(
                    f"plugin {name!r} cannot {_CANNOT[hook]}: {error}. To do without it, do not "
                    f"pass it; for an installed one: --plugin no:{name}"
                ) from error
            failed_writes.note(name, error)
            return None
        failed = writes_later is not None and name in failed_writes
        if failed and not writes_later.has_unwritten(arguments["run"]):
            failed_writes.recovered(name)
        if answer is not None:
            check_answer(hook, answer, name)
        return answer

    return listens
