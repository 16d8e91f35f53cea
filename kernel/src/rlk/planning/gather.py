"""Gathers the settings and plugins that the user, the algorithm, presets and plugins ask for."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any

from rlk.errors import BrokenPlugin, PlanError
from rlk.planning.choice import ANSWERING, Choice, activated
from rlk.planning.configure import configured
from rlk.planning.draft import Draft, leaves_out
from rlk.planning.instead import from_record
from rlk.planning.layers import CALLER, JOINED, Origin, Rank, SettingLayers
from rlk.planning.plugins_of_settings import (
    settled,
    with_own_defaults,
    with_plugins_of_settings,
)
from rlk.planning.presets import with_preset
from rlk.planning.spec import RunSpec
from rlk.registry.entry import Entry
from rlk.registry.external import find_entry, is_code_place
from rlk.registry.implementations import fault
from rlk.registry.kinds import LISTS, SLOTS, is_group_slot
from rlk.registry.registries import Registries
from rlk.registry.registry import unknown

if TYPE_CHECKING:
    from rlk.registry.kernel import Kernel

#: More plugins than this are no run's: they put in each other without end.
MOST_PLUGINS = 200


def gather(kernel: Kernel, spec: RunSpec, *, moments: tuple[str, ...]) -> Draft:
    """Every setting and plugin that is asked for in a run of this spec.

    Args:
        kernel: where components come from.
        spec: the user's request.
        moments: values of `Component.autostart` with which components join by themselves.

    Raises:
        PlanError: for anything that does not exist or contradicts itself.
    """
    draft = _begin(kernel.registries, spec)
    draft = _with_request(draft, spec)
    draft = with_preset(draft, spec.given.get("preset", "none"))
    draft = _with_autostarted(draft, moments)
    return settled(_with_patches(with_plugins_of_settings(draft), spec))


def _begin(registries: Registries, spec: RunSpec) -> Draft:
    """The algorithm with its defaults, and the components that the user leaves out."""
    _refuse_unknown_algorithm(spec.algo, registries)
    entry = find_entry(spec.algo, "algorithms", registries)
    algorithm = Choice.of(entry, spec.origins.get("algo", CALLER), "algorithm")
    defaults = algorithm.component.defaults
    group_slots = dict.fromkeys(filter(is_group_slot, defaults), "optimisers")
    slots = {**SLOTS, **group_slots}
    layers = SettingLayers(algorithm.name, slots, written_with=spec.written_with)
    draft = Draft(registries, algorithm, layers, gone=spec.gone, notes=spec.notes)
    draft = draft.without(spec.plugins)
    draft = draft.with_settings(defaults, Origin(f"algorithm {algorithm.name}", Rank.ALGORITHM))
    return with_own_defaults(draft)


def _refuse_unknown_algorithm(algo: Any, registries: Registries) -> None:
    """PlanError for an unknown algorithm; it may be a misspelt recipe, so both are suggested.

    An algorithm's record may say what to use instead of another library's: `"algo=qrdqn": "…"`.
    """
    if isinstance(algo, str) and not is_code_place(algo) and algo not in registries.algorithms:
        every = (*registries.algorithms, *registries.recipes)
        for entry in registries.algorithms:
            with contextlib.suppress(BrokenPlugin):
                said = from_record(entry.component(), "algo", algo.lower(), {})
                if isinstance(said, str):
                    raise PlanError(f"unknown algorithm {algo!r}. {said}")
        raise unknown("algorithm", algo, every, "See: rlk plugins list --kind algorithms")


def _with_request(draft: Draft, spec: RunSpec) -> Draft:
    """With the settings and plugins of the user, or of a file in the user's place."""
    for key, setting in spec.settings():
        draft = draft.with_settings({key: setting.value}, setting.origin)
    for plugin, origin in spec.asked_plugins():
        if not leaves_out(plugin):
            draft = draft.with_plugins([plugin], origin)
    return draft


# ---- plugins that nobody asked for ---------------------------------------------------------------


def _with_autostarted(draft: Draft, moments: tuple[str, ...]) -> Draft:
    """With the components that join by themselves, except broken ones."""
    for entry in (entry for kind in LISTS for entry in draft.registries[kind]):
        if entry.name in draft.left_out:
            continue
        with contextlib.suppress(BrokenPlugin):  # `rlk plugins list` shows its cause
            if _joins(entry, moments):
                draft = draft.with_plugins([entry.name], JOINED)
    return draft


def _joins(entry: Entry, moments: tuple[str, ...]) -> bool:
    """Whether a component joins at one of these moments.

    One whose hooks are at fault does not: building would refuse a run that never asked for it.

    Raises:
        BrokenPlugin: if it would join, but cannot be imported.
    """
    component = entry.component()
    is_alias = component.name != entry.name
    if component.autostart not in moments or is_alias:
        return False
    factory = entry.load()
    answers = entry.kind in ANSWERING and isinstance(factory, type)
    return not (answers and fault(factory))


def _with_patches(draft: Draft, spec: RunSpec) -> Draft:
    """With the proposals of the plugins that were put in, each asked once.

    Settings ask for plugins, plugins propose settings, and these may ask for more plugins.
    """
    asked = set[str]()
    while new := [choice for name, choice in draft.plugins.items() if name not in asked]:
        asked.update(choice.name for choice in new)
        if len(asked) > MOST_PLUGINS:
            raise PlanError(
                f"plugin {new[-1].name!r} ({new[-1].origin}) is one of more than {MOST_PLUGINS}: "
                "rlk_configure puts in another one whenever it is asked. Put in one, by its name."
            )
        hooks = activated(configured(choice, draft.layers) for choice in new)
        for name, patch in hooks.answers("rlk_configure", spec=spec):
            reason = f" ({patch.reason})" if patch.reason else ""
            origin = Origin(f"plugin {name}{reason}", Rank.PATCH)
            draft = draft.with_settings(patch.values, origin)
        draft = with_plugins_of_settings(draft)
    return draft
