"""What a saved model acts with: the algorithm's own parts in the places of those that only train.

Acting uses the policy, and wrappers and extensions unless they say that they only train. It uses
some vector environment, too, but any one will do: the algorithm's own, which is in this process.
"""

from __future__ import annotations

from collections.abc import Iterable

import attrs

from rlk import settings
from rlk.errors import UnknownName
from rlk.registry.kinds import REPLACEABLE
from rlk.registry.registries import Registries
from rlk.restoring.given_now import GivenNow
from rlk.restoring.saved_records import SavedComponent

#: What `learn` warns of, of an agent that was loaded to act.
LEARNS_WITHOUT = (
    "this agent was loaded to act: it learns with its algorithm's own storage, collector, "
    "optimisers and vector environment, without the saved noises, decorators and whatever else "
    "only trains"
)


def acting(
    components: Iterable[SavedComponent], now: GivenNow, *, has_spaces_alone: bool
) -> list[SavedComponent]:
    """The components that a saved model acts with, of those of its plan.

    A part of training is dropped, or the algorithm's own one is in its place, unless it is asked
    for now. An extension stays where it is installed and has the settings that the file has of it:
    it may have one rank act for all. With `has_spaces_alone`, only the spaces of the environment
    are there.
    """
    kept = []
    for saved in components:
        is_asked_for = saved.role in now.settings or saved.name in now.plugins or now.passes(saved)
        if not saved.is_for_training or is_asked_for:
            kept.append(saved)
        elif saved.role == "extension" and not saved.is_external:
            kept += [saved] if _is_as_saved(saved, now.registries) else []
        elif saved.role in REPLACEABLE:
            stays = _is_needed(saved, now.registries, has_spaces_alone)
            own = None if stays else _own(saved, now)
            kept.append(own or saved)
    return kept


def _is_as_saved(saved: SavedComponent, registries: Registries) -> bool:
    """Whether a component is installed, with all settings that it had when it was saved."""
    if saved.absence(registries) is not None:
        return False
    component = registries["extensions"].get(saved.name).component()
    return saved.settings.keys() <= {*settings.names(component.config)}


def _is_needed(saved: SavedComponent, registries: Registries, has_spaces_alone: bool) -> bool:
    """Whether a saved model needs this component, although it is in a slot of `REPLACEABLE`.

    It needs what files are written by, and a vector environment that makes its environments only
    together, or that has hooks, which may take over processes.
    """
    if saved.absence(registries) is not None:
        return False
    if saved.role != "vec_env" or has_spaces_alone:
        return saved.role == "serializer"
    component = registries["vec_envs"].get(saved.name).component()
    return component.makes_only_vectors or bool(component.hooks)


def _own(saved: SavedComponent, now: GivenNow) -> SavedComponent | None:
    """The algorithm's own choice for its slot, if both are there: that one, or with defaults."""
    try:
        name = now.algorithm.defaults.get(saved.role)
    except UnknownName:
        return None  # the algorithm is missing, too, and is what cannot be done without
    if not isinstance(name, str) or name not in now.registries:
        return None
    if name == saved.name and not saved.is_external:
        return saved
    made = attrs.evolve(saved, name=name, dist="", version="", settings={}, set_by={})
    return made if made.absence(now.registries) is None else None
