"""A plan in files: to JSON values, and from them back to a RunSpec.

Only names of installed components and ids of registered environments are taken from a file. Code
and objects, however they are named, must be passed again.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import attrs

from rlk import settings
from rlk.documents import json_text
from rlk.planning.connect import connect_named
from rlk.planning.draft import leaves_out
from rlk.planning.environment import EnvChoice
from rlk.planning.layers import JOINED, SAVED, Origin
from rlk.planning.plan import Plan
from rlk.planning.saved_keywords import plain_keywords, tuples_in
from rlk.planning.spec import RunSpec, make_spec, plugin_key, plugins_of
from rlk.registry.kinds import SLOTS, STACKED
from rlk.restoring.given_now import GivenNow
from rlk.restoring.kept_components import (
    without_absent,
    without_left_out,
    without_switched_off,
)
from rlk.restoring.lost_settings import refuse_lost, without_lost
from rlk.restoring.passed_again import (
    in_saved_order,
    passed_with_settings,
    refuse_not_passed_again,
    restorable,
    restore_algorithm,
    with_successors,
)
from rlk.restoring.restored_environment import restore_environment
from rlk.restoring.saved_records import SavedComponent, SavedPlan
from rlk.restoring.stand_ins import LEARNS_WITHOUT, acting
from rlk.structure import structured

if TYPE_CHECKING:
    from rlk.planning.choice import Choice
    from rlk.registry.kernel import Kernel
    from rlk.registry.registries import Registries


#: The file of a run folder that holds the plan of the run as it began.
PLAN = "plan.json"


# ---- to a file -----------------------------------------------------------------------------------


def as_json(plan: Plan) -> dict[str, Any]:
    """The plan in `plan.json` and in every checkpoint: enough to make the run again."""
    from rlk.restoring.saved_spaces import space_state  # not at the top: it needs gymnasium
    from rlk.spaces import describe

    spaces = {"observation_space": plan.observation_space, "action_space": plan.action_space}
    inside = dict(zip(spaces, plan.spaces_inside, strict=True))
    return {
        "env": {
            "name": plan.env.name,
            "kwargs": plain_keywords(plan.env.kwargs),
            "tuples": list(tuples_in(plan.env.kwargs)),
            "source": plan.env.source,
            "passed_as_object": not plan.env.source,
            "again": plan.env.again,
            **{key: describe(space) for key, space in spaces.items()},
            "spaces": {key: space_state(space) for key, space in spaces.items()},
            "spaces_inside": {
                key: space_state(space) for key, space in inside.items() if space != spaces[key]
            },
        },
        "run": {**plan.run_settings(), "preset": plan.preset},
        "set_by": {key: origin.by for key, origin in plan.sources.items()},
        "left_out": list(plan.left_out),
        "components": [
            {
                "kind": choice.kind,
                "name": choice.name,
                "dist": choice.dist,
                "version": choice.version,
                "chosen_by": choice.origin.by,
                "joined": choice.has_joined,
                "settings": settings.unstructure(choice.config) | _lost_of(plan, choice),
                "set_by": {key: origin.by for key, origin in choice.sources.items()},
                "role": choice.role,
                "only_trains": choice.component.only_trains,
            }
            for choice in plan.choices()
        ],
    }


def _lost_of(plan: Plan, choice: Choice) -> dict[str, Any]:
    """The settings of a component that were lost when the plan was loaded."""
    keys = {name: f"{choice.prefix}{name}" for name in settings.names(choice.component.config)}
    return {name: plan.lost_values[key] for name, key in keys.items() if key in plan.lost_values}


def plan_text(plan: dict[str, Any]) -> str:
    """A plan in the form of `as_json` as the text of `plan.json`."""
    return json_text(plan, indent=2) + "\n"


# ---- and back ------------------------------------------------------------------------------------


def spec_of(
    plan: Mapping[str, Any],
    kernel: Kernel,
    *,
    env: Any = None,
    plugins: Iterable[Any] | None = None,
    changes: Mapping[str, Any] | None = None,
    resumes: bool = False,
    to_act: bool = False,
) -> RunSpec:
    """The spec that makes a saved plan again.

    Args:
        plan: the result of `as_json`, from a file.
        kernel: where components come from.
        env: the environment, if no file can hold it (an object, code); keywords are kept. An
            EnvChoice is of `spaces_alone`.
        plugins: likewise for plugins.
        changes: settings on top of the saved ones.
        resumes: whether the saved run goes on: what only watches (callbacks, loggers) is then part
            of it again, and no setting may be lost.
        to_act: without the parts that only train, or with the algorithm's own in their places.

    Raises:
        BadFile: if `as_json` cannot have written it.
        PlanError: if something must be passed again, or the file names a place.
    """
    changes, plugins, registries = changes or {}, plugins_of(plugins), kernel.registries
    saved = structured(SavedPlan, plan, "the saved plan")
    _connect(saved, plugins, changes, registries)
    algo, others = restore_algorithm(saved.algorithm, plugins, registries)
    spec = make_spec(algo, changes)
    now = GivenNow(algo, others, spec.given, registries)
    found = _components_again(saved, now, env, resumes=resumes, to_act=to_act)
    of_file = {**saved.run.given(), **_settings(found, now)}
    kept, lost = without_lost(of_file, found.used, now)
    refuse_lost(lost, resumes=resumes)
    given = {
        **kept,
        **restore_environment(saved.env, env, changes, registries),
        "preset": "none",  # its values are among the settings
        "plugins": [
            *(f"no:{name}" for name in saved.left_out if name in registries),
            *in_saved_order(found.used, _known(now, found.gone), registries),
        ],
    }
    made = make_spec(algo, given, origin=SAVED, is_flat=True)
    before = attrs.evolve(
        made,
        origins={**made.origins, **_origins(found.used, now)},
        notes=found.notes,
        learns_without=(*lost, *filter(None, [_absence(env), LEARNS_WITHOUT if to_act else ""])),
        gone=tuple(sorted(found.gone)),
        lost_values={one.typed: one.value for one in lost},
        written_with={one.name: one.requirement for one in found.used if one.version},
    )
    return spec.over(before)  # the settings of the file rank below those given now


@attrs.frozen
class _ComponentsAgain:
    """The components of a saved plan in the run that is made of it again."""

    used: list[SavedComponent]  #: those that the run has, in the order of the file
    gone: set[str]  #: the names of those that it might have had, and has not
    filled: set[str]  #: the slots that the file fills, also those that a switch empties now
    notes: tuple[str, ...]  #: for the user, on those that were left out


def _components_again(
    saved: SavedPlan, now: GivenNow, env: Any, *, resumes: bool, to_act: bool
) -> _ComponentsAgain:
    """What becomes of the components of a saved plan, one step after the other.

    The environment, `resumes` and `to_act` are those of `spec_of`.
    """
    wanted = restorable(saved.components, now, observers=resumes)
    kept, of_left_out = without_left_out(wanted, now)
    needed = acting(kept, now, has_spaces_alone=bool(_absence(env))) if to_act else kept
    there, of_absent = without_absent(needed, now, to_act=to_act)
    refuse_not_passed_again(there, now, saved.env if env is None else None)
    switched_on = without_switched_off(there, now)
    return _ComponentsAgain(
        used=with_successors(switched_on, now),
        gone={one.name for one in wanted} - {one.name for one in switched_on},
        filled={one.role for one in there},
        notes=(*of_left_out, *of_absent),
    )


def _connect(
    saved: SavedPlan, plugins: Iterable[Any], changes: Mapping[str, Any], registries: Registries
) -> None:
    """Connect the processes that share the run, before one of them is refused."""
    named = [one.name for one in saved.components if not one.is_external]
    now = [*(changes.get(slot) for slot in SLOTS), *plugins]
    connect_named([*named, *(one for one in now if isinstance(one, str))], registries)


def _absence(env: Any) -> str:
    """A sentence on the environment if only its spaces are there, else ""."""
    return env.note if isinstance(env, EnvChoice) else ""


def _known(now: GivenNow, gone: Iterable[str]) -> tuple[Any, ...]:
    """The plugins that are passed now, without a `no:NAME` that planning would not know.

    It is of a component that is gone, and not installed here.
    """
    unknown = {f"no:{name}" for name in gone if name not in now.registries}
    return tuple(one for one in now.plugins if not (leaves_out(one) and one in unknown))


def _settings(found: _ComponentsAgain, now: GivenNow) -> dict[str, Any]:
    """The components of the slots, and the settings of every component, by dotted key.

    Those of a component that is now passed with settings of its own are left out. A slot of
    `STACKED` that was empty stays so, whatever the algorithm puts in by default; one that a switch
    empties now does not.
    """
    without = passed_with_settings(now)
    given: dict[str, Any] = {slot: () for slot in STACKED if slot not in found.filled}
    for saved in found.used:
        if saved.role in STACKED and not saved.is_external:
            given[saved.role] = (*given.get(saved.role, ()), saved.name)
        elif saved.fills_slot and not saved.is_external:
            given[saved.role] = saved.name
        if saved.name not in without:
            given |= {f"{saved.prefix}{key}": value for key, value in saved.settings.items()}
    return given


def _origins(used: Iterable[SavedComponent], now: GivenNow) -> dict[str, Origin]:
    """The origins of the algorithm and of plugins: those that had joined by themselves do so again.

    The others are the saved plan's, except those that are passed now.
    """
    of_plugins = {
        plugin_key(one.name): JOINED if one.joined else SAVED
        for one in used
        if one.joined or one.name not in now.plugins
    }
    return {"algo": SAVED, **of_plugins}
