"""A plan as files hold it: to JSON values, and from them back to a RunSpec.

Only names of installed components and ids of registered environments are taken from a file. Code
and objects, whatever they are named by, are passed again.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import attrs

from rlk import settings
from rlk.errors import BrokenPlugin, PlanError
from rlk.planning.components_again import algorithm_again, refuse_missing_components
from rlk.planning.draft import leaves_out
from rlk.planning.environment_again import environment_again
from rlk.planning.lost_settings import LostSettings, lost_settings
from rlk.planning.plan import SAVED, Plan
from rlk.planning.saved_records import SavedComponent, SavedPlan
from rlk.planning.select import JOINED
from rlk.planning.spec import RunSpec, make_spec, plugin_key
from rlk.registry.kinds import STACKED
from rlk.structure import structured

if TYPE_CHECKING:
    from rlk.registry.kernel import Kernel


_WINDOW = ("render_mode", "human")


# ---- to a file -----------------------------------------------------------------------------------


def as_json(plan: Plan) -> dict[str, Any]:
    """What `plan.json` and every checkpoint hold of a plan: enough to make the run again."""
    from rlk.spaces import describe  # not at the top: it needs gymnasium

    return {
        "env": {
            "name": plan.env.name,
            "kwargs": _kept(settings.plain(plan.env.kwargs)),
            "source": plan.env.source,
            "passed_as_object": not plan.env.source,
            "again": plan.env.again,
            "observation_space": describe(plan.observation_space),
            "action_space": describe(plan.action_space),
        },
        "run": {**plan.run_settings(), "preset": plan.preset},
        "set_by": dict(plan.sources),
        "refused": list(plan.left_out),
        "components": [
            {
                "kind": choice.kind,
                "name": choice.name,
                "dist": choice.dist,
                "version": choice.version,
                "chosen_by": choice.by,
                "settings": settings.unstructure(choice.config),
                "set_by": dict(choice.sources),
                "slot": slot,
            }
            for slot, choice in plan.choices()
        ],
    }


def _kept(keywords: dict[str, Any]) -> dict[str, Any]:
    """Keywords of an environment, without a window: no saved run opens one by itself."""
    return {key: value for key, value in keywords.items() if (key, value) != _WINDOW}


# ---- and back ------------------------------------------------------------------------------------


def spec_of(
    plan: Mapping[str, Any],
    kernel: Kernel,
    *,
    env: Any = None,
    plugins: tuple[Any, ...] = (),
    changes: Mapping[str, Any] | None = None,
    observers: bool = False,
) -> RunSpec:
    """The spec that makes a saved plan again.

    Args:
        plan: what `as_json` has written.
        kernel: where components come from.
        env: the environment, where no file can hold it (an object, code); keywords are kept.
        plugins: likewise for plugins.
        changes: settings on top of the saved ones.
        observers: with components that only watch (callbacks, loggers); acting needs none.

    Raises:
        BadFile: if it is nothing that `as_json` writes.
        PlanError: if something must be passed again, or the file names a place.
    """
    changes = changes or {}
    saved = structured(SavedPlan, plan, "the saved plan")
    wanted = [one for one in saved.components if observers or not one.only_watches]
    wanted, plugins = _without_left_out(wanted, plugins, kernel)
    components, notes = _without_absent(wanted, changes, kernel)
    algo, plugins = algorithm_again(saved.algorithm, plugins, kernel.registries)
    # An environment that is missing too is told with them, so that all can be typed at once.
    own_env = saved.env if env is None else None
    refuse_missing_components(components, plugins, changes, kernel.registries, own_env)
    upper = make_spec(algo, changes)
    lost = _lost(saved, components, kernel)
    lost.refuse_missing_functions(upper.given)
    if observers:
        lost.refuse_missing(upper.given)
    named = [one.name for one in components if _is_named(one)]
    given = {
        **lost.kept,
        **environment_again(saved.env, env, changes, kernel.registries),
        "preset": "none",  # what it set is among the settings
        "plugins": [*_left_out(saved, kernel), *named, *plugins],
    }
    lower = make_spec(algo, given, origin=SAVED)
    return upper.over(
        attrs.evolve(
            lower,
            origins={**lower.origins, **_origins(components)},
            notes=notes,
            lost=lost.sentences(upper.given),
        )
    )


def _lost(saved: SavedPlan, components: Iterable[SavedComponent], kernel: Kernel) -> LostSettings:
    """The saved settings of the run and of these components, and which of them are lost."""
    given = {**saved.run.given(), **_settings(components)}
    return lost_settings(given, components, kernel.registries)


def _is_named(saved: SavedComponent) -> bool:
    """Whether a component is put in as a plugin, by its name."""
    return saved.slot != "algorithm" and not saved.fills_slot and not saved.is_external


def _origins(components: Iterable[SavedComponent]) -> dict[str, str]:
    """Who put plugins in: those that had joined by themselves do so again."""
    return {plugin_key(one.name): JOINED for one in components if one.has_joined}


def _may_be_left_out(saved: SavedComponent) -> bool:
    """Whether there is a run without it: it fills no slot, or one that may be empty."""
    must_be_filled = saved.slot == "algorithm" or saved.fills_slot
    return saved.slot in STACKED or not must_be_filled


def _without_left_out(
    components: Sequence[SavedComponent], plugins: tuple[Any, ...], kernel: Kernel
) -> tuple[list[SavedComponent], tuple[Any, ...]]:
    """Without what a `no:NAME` leaves out, whose settings go with it; and the plugins.

    A `no:NAME` of what is not installed here is dropped: planning knows no such name.
    """
    own_name = kernel.registries.own_name
    out = {own_name(one.removeprefix("no:")) for one in plugins if leaves_out(one)}
    gone = [one for one in components if one.name in out and _may_be_left_out(one)]
    kept = [one for one in components if one not in gone]
    unknown = [f"no:{one.name}" for one in gone if not _is_known(one, kernel)]
    return kept, tuple(one for one in plugins if not (leaves_out(one) and one in unknown))


def _without_absent(
    components: Iterable[SavedComponent], changes: Mapping[str, Any], kernel: Kernel
) -> tuple[list[SavedComponent], tuple[str, ...]]:
    """Without those that had joined by themselves and cannot be used here; and a note of each.

    Raises:
        PlanError: for a component that was asked for and is not installed here, unless its slot is
            filled with another one now.
    """
    kept, notes = [], []
    for saved in components:
        if saved.has_joined:
            absence = _absence(saved, kernel)
            if absence is not None:
                notes.append(
                    f"{saved.slot} {saved.name!r} ({_owner(saved)}) had joined by itself and is "
                    f"left out: {absence}"
                )
                continue
        elif not saved.is_external and not _is_known(saved, kernel):
            if saved.slot in changes:
                continue
            raise _missing(saved)
        kept.append(saved)
    return kept, tuple(notes)


def _owner(saved: SavedComponent) -> str:
    """The distribution that it came from; what a program gave has no version."""
    return f"{saved.dist} {saved.version}".strip()


def _missing(saved: SavedComponent) -> PlanError:
    """The error for what was asked for and is not there."""
    again = f"pip install {saved.dist}" if saved.version else "register it as that program did"
    without = f", or leave it out: --plugin no:{saved.name}" if _may_be_left_out(saved) else ""
    return PlanError(
        f"this model was made with {saved.slot} {saved.name!r} of {_owner(saved)}, which is not "
        f"there: {again}{without}."
    )


def _is_known(saved: SavedComponent, kernel: Kernel) -> bool:
    """Whether a component of that name is installed or registered."""
    return any(saved.name in registry for registry in kernel.registries)


def _absence(saved: SavedComponent, kernel: Kernel) -> str | None:
    """Why a component cannot be used here, or None if it can."""
    registry = next((one for one in kernel.registries if one.kind == saved.kind), None)
    if registry is None or saved.name not in registry:
        return "it is not installed here"
    try:
        registry.get(saved.name).load()
    except BrokenPlugin as error:
        return str(error)
    return None


def _settings(components: Iterable[SavedComponent]) -> dict[str, Any]:
    """What fills the slots, and the settings of every component, by dotted key."""
    given: dict[str, Any] = {}
    for saved in components:
        if saved.fills_slot and not saved.is_external:
            others = given.get(saved.slot, ()) if saved.slot in STACKED else None
            given[saved.slot] = saved.name if others is None else (*others, saved.name)
        given |= {f"{saved.prefix}{key}": value for key, value in saved.settings.items()}
    return given


def _left_out(plan: SavedPlan, kernel: Kernel) -> list[str]:
    """What the user had left out, so that it does not come back by itself."""
    installed = {entry.name for registry in kernel.registries for entry in registry}
    return [f"no:{name}" for name in plan.refused if name in installed]
