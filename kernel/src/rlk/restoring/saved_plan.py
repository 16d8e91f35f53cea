"""A plan in files: to JSON values, and from them back to a RunSpec.

Only names of installed components and ids of registered environments are taken from a file. Code
and objects, however they are named, must be passed again.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import attrs

from rlk import settings
from rlk.documents import json_text
from rlk.planning.connect import connect_named
from rlk.planning.environment import EnvChoice
from rlk.planning.layers import CALLER, JOINED, SAVED, Origin
from rlk.planning.plan import Plan
from rlk.planning.saved_keywords import plain_keywords, tuples_in
from rlk.planning.spec import RunSpec, make_spec, plugin_key, plugins_of
from rlk.registry.kinds import SLOTS, STACKED
from rlk.restoring.kept_components import (
    without_absent,
    without_left_out,
    without_switched_off,
)
from rlk.restoring.lost_settings import LostSetting, refuse_lost, without_lost
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
from rlk.restoring.stand_ins import LEARNS_WITHOUT, acting, without_settings_of
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
        "refused": list(plan.left_out),
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
                "slot": choice.role,
                "only_trains": choice.component.only_trains,
            }
            for choice in plan.choices()
        ],
    }


def _lost_of(plan: Plan, choice: Choice) -> dict[str, Any]:
    """The settings of a component that were lost when the plan was loaded, and not given since."""
    names, prefix = settings.names(choice.component.config), choice.prefix
    return {
        key: plan.lost_values[prefix + key]
        for key in names
        if prefix + key in plan.lost_values and choice.sources.get(key) != CALLER
    }


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
    observers: bool = False,
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
        observers: include components that only watch (callbacks, loggers); acting needs none.
        to_act: without the parts that only train, or with the algorithm's own in their places.

    Raises:
        BadFile: if `as_json` cannot have written it.
        PlanError: if something must be passed again, or the file names a place.
    """
    changes, plugins, registries = changes or {}, plugins_of(plugins), kernel.registries
    saved = structured(SavedPlan, plan, "the saved plan")
    _connect(saved, plugins, changes, registries)

    # The components: those that no file may supply must be passed; one error names all missing.
    algo, plugins = restore_algorithm(saved.algorithm, plugins, registries)
    now = make_spec(algo, changes)
    wanted = restorable(saved.components, plugins, registries, observers=observers)
    used, plugins, notes = without_left_out(wanted, plugins, registries)
    absent = [env.note] if isinstance(env, EnvChoice) and env.note else []
    if to_act:
        used = acting(used, algo, plugins, now.given, registries, has_spaces_alone=bool(absent))
    used, of_joined = without_absent(used, now.given, registries, to_act=to_act)
    saved_env = saved.env if env is None else None
    refuse_not_passed_again(used, plugins, now.given, registries, saved_env)

    # The settings: those of the file rank below those given now.
    filled = {one.slot for one in used}
    used = without_switched_off(used, algo, now.given, registries)
    gone = {one.name for one in wanted} - {one.name for one in used}
    used = with_successors(used, now.given, registries)
    of_file = {**saved.run.given(), **_settings(used, filled, plugins, registries)}
    of_file = without_settings_of(gone, of_file, algo, registries)
    kept, lost = without_lost(of_file, used, registries, now.given)
    refuse_lost(lost, resumes=observers)
    given = {
        **kept,
        **restore_environment(saved.env, env, changes, registries),
        "preset": "none",  # its values are among the settings
        "plugins": [*_left_out(saved, registries), *in_saved_order(used, plugins, registries)],
    }
    before = attrs.evolve(
        make_spec(algo, given, origin=SAVED, is_flat=True),
        notes=(*notes, *of_joined),
        learns_without=_learns_without(lost, absent, to_act=to_act),
        gone=tuple(sorted(gone)),
        lost_values={one.typed: one.value for one in lost},
        written_with={one.name: one.requirement for one in used if one.version},
    )
    return now.over(attrs.evolve(before, origins={**before.origins, **_origins(used, plugins)}))


def _connect(
    saved: SavedPlan, plugins: Iterable[Any], changes: Mapping[str, Any], registries: Registries
) -> None:
    """Connect the processes that share the run, before one of them is refused."""
    named = [one.name for one in saved.components if not one.is_external]
    now = [*(changes.get(slot) for slot in SLOTS), *plugins]
    connect_named([*named, *(one for one in now if isinstance(one, str))], registries)


def _settings(
    components: Sequence[SavedComponent],
    filled: Container[str],
    plugins: tuple[Any, ...],
    registries: Registries,
) -> dict[str, Any]:
    """The components of the slots, and the settings of every component, by dotted key.

    Those of a component that is now passed with settings of its own are left out. A slot of
    `STACKED` that was empty stays so, whatever the algorithm puts in by default; one of `filled`
    that a switch has emptied does not.
    """
    without = passed_with_settings(components, plugins, registries)
    given: dict[str, Any] = {slot: () for slot in STACKED if slot not in filled}
    for saved in components:
        if saved.fills_slot and not saved.is_external:
            others = given.get(saved.slot, ()) if saved.slot in STACKED else None
            given[saved.slot] = saved.name if others is None else (*others, saved.name)
        if saved.name not in without:
            given |= {f"{saved.prefix}{key}": value for key, value in saved.settings.items()}
    return given


def _learns_without(
    lost: Iterable[LostSetting], absent: Iterable[str], *, to_act: bool
) -> tuple[LostSetting | str, ...]:
    """What training had and this run has not: settings, an environment, parts that only train."""
    return (*lost, *absent, *([LEARNS_WITHOUT] if to_act else ()))


def _left_out(saved: SavedPlan, registries: Registries) -> list[str]:
    """What the user of the saved plan had left out, as it is typed."""
    return [f"no:{name}" for name in saved.refused if name in registries]


def _origins(components: Iterable[SavedComponent], plugins: tuple[Any, ...]) -> dict[str, Origin]:
    """The origins of the algorithm and of plugins: those that had joined by themselves do so again.

    The others are the saved plan's, except those that are passed now.
    """
    of_plugins = {
        plugin_key(one.name): JOINED if one.joined else SAVED
        for one in components
        if one.joined or one.name not in plugins
    }
    return {"algo": SAVED, **of_plugins}
