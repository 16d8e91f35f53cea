"""The components that a saved plan must not supply by itself: the user passes them again.

If a file could name a module, a class or a file, loading it would import whatever is found under
that name. So such a name is only compared with the components that are passed now.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import attrs

from rlk.errors import PlanError
from rlk.planning.layers import listed
from rlk.planning.parse import parse_plugin
from rlk.registry.external import PASSED, find_entry, passed_entry
from rlk.registry.kinds import STACKED
from rlk.registry.registries import Registries
from rlk.restoring.given_now import GivenNow, is_called, name_in_plan
from rlk.restoring.restored_environment import code_place_of_saved, typed
from rlk.restoring.saved_records import SavedComponent, SavedEnvironment
from rlk.settings import names


def restore_algorithm(
    saved: SavedComponent, plugins: tuple[Any, ...], registries: Registries
) -> tuple[Any, tuple[Any, ...]]:
    """The algorithm by its name, or the one that is passed now; and the plugins without it.

    Raises:
        PlanError: for one from a place or an object, that was not passed again.
    """
    if not saved.is_external:
        return saved.name, plugins
    for plugin in plugins:
        if name_in_plan(plugin, registries) == saved.name:
            return plugin, tuple(other for other in plugins if other is not plugin)
    raise _not_passed(saved)


def restorable(
    components: Iterable[SavedComponent], now: GivenNow, *, observers: bool
) -> list[SavedComponent]:
    """The components of a saved plan that are part of the next run.

    Args:
        components: all of the plan.
        now: an extension that it passes is part of the next run, whether it only watches or not,
            and so has the settings that it had.
        observers: whether others that only watch are part of it.
    """
    return [
        one
        for one in components
        if observers or not one.only_watches or (one.role == "extension" and now.passes(one))
    ]


def in_saved_order(
    components: Iterable[SavedComponent], plugins: Iterable[Any], registries: Registries
) -> list[Any]:
    """The plugins of a saved plan in its order: wrappers nest as they did.

    Installed ones are there by their names, others as they are passed now. What is passed for the
    first time comes last.
    """
    passed = [(name_in_plan(plugin, registries), plugin) for plugin in plugins]
    ordered: list[Any] = []
    for saved in components:
        if saved.role == "algorithm" or saved.fills_slot:
            continue
        if not saved.is_external:
            ordered.append(saved.name)
            continue
        again = [at for at, (name, _) in enumerate(passed) if is_called(saved, name)]
        if again:
            ordered.append(passed.pop(again[0])[1])
    return [*ordered, *(plugin for _, plugin in passed)]


def with_successors(components: Iterable[SavedComponent], now: GivenNow) -> list[SavedComponent]:
    """The components, those from a program by the names of what is passed in their slots now.

    A class may have another name than before. It has the saved settings if its own have the same
    names; anything else has settings of its own. In a slot of several, one from a program that is
    not passed again is replaced by what is.
    """
    return [
        _succeeded(saved, now.settings.get(saved.role), now.registries)
        for saved in components
        if not _is_replaced(saved, now)
    ]


def _is_replaced(saved: SavedComponent, now: GivenNow) -> bool:
    if saved.role not in STACKED or saved.role not in now.settings or not saved.is_external:
        return False
    names = (name_in_plan(one, now.registries) for one in listed(now.settings[saved.role]))
    return not any(is_called(saved, name) for name in names)


def _succeeded(saved: SavedComponent, asked: Any, registries: Registries) -> SavedComponent:
    if asked is None or saved.role in STACKED or not saved.is_external:
        return saved
    name = parse_plugin(asked)[0] if isinstance(asked, str) else asked
    component = find_entry(name, saved.kind, registries).component()
    if component.name == saved.name:
        return saved
    has_same = saved.settings.keys() == set(names(component.config))
    kept = {
        key: one
        for key, one in saved.settings.items()
        if has_same and key not in component.own_defaults
    }
    return attrs.evolve(saved, name=component.name, settings=kept)


def refuse_not_passed_again(
    components: Iterable[SavedComponent], now: GivenNow, environment: SavedEnvironment | None
) -> None:
    """PlanError for components from a place, or objects, that were not passed again.

    Args:
        components: those in the file.
        now: what is passed again.
        environment: the saved one if none is passed now, so that the message lists everything
            to pass.
    """
    wanted = [one for one in components if one.is_external and one.role != "algorithm"]
    found = [one for one in wanted if one.role not in now.settings and not now.passes(one)]
    if found:
        raise _not_passed(*found, environment=code_place_of_saved(environment, now.registries))


def passed_with_settings(now: GivenNow) -> set[str | None]:
    """The names of what is passed as an object now and has no settings, or was made with its own.

    What came from a place had settings in the file, which its class or an object does not take.
    """
    passed = zip(now.plugins, now.names, strict=True)
    objects = [(one, name) for one, name in passed if not isinstance(one, str)]
    return {name for one, name in objects if passed_entry(one, ()).component().config is None}


def _not_passed(*components: SavedComponent, environment: str | None = None) -> PlanError:
    """The error that names what was not passed again, and what to type for all of it at once.

    Args:
        components: at least one.
        environment: the place of an environment that is code and was not passed either.
    """
    placed = [saved for saved in components if saved.dist != PASSED]
    return _code_not_passed(placed, environment) if placed else _object_not_passed(components[0])


def _object_not_passed(saved: SavedComponent) -> PlanError:
    keyword = f"{saved.role}=…" if saved.fills_slot else "plugins=[…]"
    return PlanError(
        f"this model was made with {saved.role} {saved.name!r}, which was passed as an object, "
        "which no file may run by itself. Pass it again: in Python, "
        f"{keyword} with that object."
    )


def _code_not_passed(placed: Sequence[SavedComponent], environment: str | None) -> PlanError:
    was = [f"{saved.role} {saved.name!r} from {saved.dist!r}" for saved in placed]
    in_slots: dict[str, Any] = {}
    for saved in placed:
        if saved.fills_slot:
            before = listed(in_slots.get(saved.role))
            in_slots[saved.role] = [*before, saved.dist] if before else saved.dist
    places = list(dict.fromkeys(saved.dist for saved in placed if not saved.fills_slot))
    options = [typed("--set", f"{slot}={_written(found)}") for slot, found in in_slots.items()]
    options += [typed("--plugin", place) for place in places]
    keywords: dict[str, Any] = {**in_slots, **({"plugins": places} if places else {})}
    if environment is not None:
        was.append(f"environment {environment!r}")
        options.append(typed("--env", environment))
        keywords["env"] = environment
    python = ", ".join(f"{key}={value!r}" for key, value in keywords.items())
    return PlanError(
        f"this model was made with {' and '.join(was)}, which no file may run by itself. Pass "
        f"{'it' if len(was) == 1 else 'them'} again: {' '.join(options)}, or in Python {python}."
    )


def _written(places: str | list[str]) -> str:
    """One place, or several as the list that a command line takes."""
    return places if isinstance(places, str) else f"[{','.join(places)}]"
