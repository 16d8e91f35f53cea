"""The states of plugins in files: what a model needs as well, and what only a checkpoint holds."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import TYPE_CHECKING

import attrs

from rlk.protocols import State
from rlk.registry.external import PASSED, is_external, without_number
from rlk.saving.restored_parts import part_of, restoring

if TYPE_CHECKING:
    from rlk.running.run import Run

#: The key in a file of what `rlk_save_with_model` returned, by plugin; only where one did.
WITH_MODEL = "model_plugins"
#: The key in a checkpoint of what `rlk_save` returned, by plugin.
OF_CHECKPOINT = "plugins"


@attrs.frozen
class MissingPlugin:
    """A plugin that a file should be restored with and that is not in the run."""

    name: str
    sentence: str
    is_for_acting: bool  #: whether acting as the model does needs it: the level of a curriculum


def restore_plugins(run: Run, state: State, key: str, hook: str) -> None:
    """Give plugins, by this hook, what they saved under this key of a file."""
    states, saved_as = part_of(state, key), _names_in_file(run, state)
    for name, load in run.hooks.listeners(hook):
        saved = saved_as.get(name, name)
        if saved in states:
            with restoring(f"plugin {name!r}"):
                load(run=run, state=states[saved])


def missing(run: Run, state: State) -> list[MissingPlugin]:
    """The plugins that a file should be restored with and that are not here."""
    saved_as = _names_in_file(run, state)
    known = {saved_as.get(choice.name, choice.name) for choice in run.plan.choices()}
    is_model = "run" not in state["manifest"]["contents"]
    for_acting = state.get(WITH_MODEL, ()) if is_model else ()
    return [
        MissingPlugin(name, f"plugin {name!r}, {why}, is not in this run", name in for_acting)
        for name, why in _wanted(state).items()
        if name not in known
    ]


def _wanted(state: State) -> dict[str, str]:
    """The plugins that a file should be restored with, each with what it is to the file.

    For a model, these are also the objects with hooks, with a state or without. For a checkpoint,
    callbacks and loggers of the plan do not count, unless the model needs them: they are missing on
    purpose where a run does not go on in its own folder. A callback of one call of `learn` cannot
    be here: its state was part of that call.
    """
    components = state["manifest"]["plan"]["components"]
    of_model = [*state.get(WITH_MODEL, ())]
    if "run" not in state["manifest"]["contents"]:
        extensions = [one for one in components if one["role"] == "extension"]
        objects = [one["name"] for one in extensions if one["dist"] == PASSED]
        wanted = dict.fromkeys(objects, "an object that the model was trained with")
        return wanted | dict.fromkeys(of_model, "whose state is in the model")
    watching = {one["name"] for one in components if one["role"] in ("callback", "logger")}
    others = [name for name in state[OF_CHECKPOINT] if name not in watching]
    return dict.fromkeys([*of_model, *others], "whose state is in the checkpoint")


def _names_in_file(run: Run, state: State) -> dict[str, str]:
    """The names in a file of the plugins that come from a place or were passed as objects now.

    By their names now. The first of a class is the first of that class in the file, whether it is
    named (`./mine.py:Climbs`) or passed as an object, and so on.
    """
    saved = state["manifest"]["plan"]["components"]
    now = _by_class((choice.name, choice.dist) for choice in run.plan.choices())
    then = _by_class((one["name"], one["dist"]) for one in saved)
    return {now[key]: then[key] for key in now.keys() & then.keys()}


def _by_class(components: Iterable[tuple[str, str]]) -> dict[tuple[str, int], str]:
    """The names of those from a place or passed as objects, by class and number in that class.

    Objects have a number in their name, from 0 in each class.

    Args:
        components: name and distribution of each.
    """
    count, names = Counter[str](), dict[tuple[str, int], str]()
    for name, dist in components:
        if is_external(dist):
            made_of = without_number(name) if dist == PASSED else name
            names[made_of, count[made_of]] = name
            count[made_of] += 1
    return names
