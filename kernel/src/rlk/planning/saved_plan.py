"""A plan as files hold it: to JSON values, and from them back to a RunSpec.

Only names of installed components are taken from a file; code and objects are passed again.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import attrs

from rlk import settings
from rlk.errors import BrokenPlugin, PlanError
from rlk.planning.environment import choose_environment
from rlk.planning.plan import Plan
from rlk.planning.select import JOINED
from rlk.planning.spec import RunSpec, make_spec, plugin_key
from rlk.registry.external import PASSED, is_place
from rlk.registry.kinds import SLOTS, is_group_slot

if TYPE_CHECKING:
    from rlk.registry.kernel import Kernel

#: A component of a saved plan, as `as_json` writes it.
Saved = Mapping[str, Any]


# ---- to a file -----------------------------------------------------------------------------------


def as_json(plan: Plan) -> dict[str, Any]:
    """What `plan.json` and every checkpoint hold of a plan: enough to make the run again."""
    from rlk.spaces import describe  # not at the top: it needs gymnasium

    return {
        "env": {
            "name": plan.env.name,
            "kwargs": settings.plain(plan.env.kwargs),
            "source": plan.env.source,
            "passed_as_object": not plan.env.source,
            "again": plan.env.again,
            "observation_space": describe(plan.observation_space),
            "action_space": describe(plan.action_space),
        },
        "run": {**plan.run_settings(), "preset": plan.preset},
        "set_by": dict(plan.sources),
        "refused": list(plan.refused),
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
        PlanError: if something must be passed again, or the file names a place.
    """
    changes = changes or {}
    wanted = [saved for saved in plan["components"] if observers or not _only_watches(saved)]
    components, notes = _without_absent(wanted, kernel)
    algo, names = _named(components, plugins)
    given, callables = _without_callables({**plan["run"], **_settings(components)})
    upper = make_spec(algo, changes)
    missing = {key: name for key, name in callables.items() if key not in upper.given}
    if missing and observers:
        raise PlanError(f"{', '.join(missing)} was a callable, which no file holds. Pass it again.")
    lost = tuple(
        f"{key} was the callable {name}, which no file holds, and has its default now. Pass it "
        f"again to train on with it: {key}=…"
        for key, name in missing.items()
    )
    _refuse_places([algo, *names, *_in_slots(given)])
    given |= _environment(plan["env"], env, kernel)
    given |= {"preset": "none", "plugins": [*_refusals(plan, kernel), *names, *plugins]}
    joined = {plugin_key(saved["name"]): JOINED for saved in components if _has_joined(saved)}
    lower = make_spec(algo, given, origin="saved plan")
    lower = attrs.evolve(lower, origins={**lower.origins, **joined}, notes=notes, lost=lost)
    return upper.over(lower)


def _only_watches(saved: Saved) -> bool:
    """Whether a component watches a run and has no part in it, as every object passed may."""
    is_object = saved["slot"] == "extension" and saved["dist"] == PASSED
    return saved["slot"] in ("callback", "logger") or is_object


def _has_joined(saved: Saved) -> bool:
    """Whether a component was active without being asked for."""
    return saved.get("chosen_by") == JOINED


def _without_absent(
    components: Iterable[Saved], kernel: Kernel
) -> tuple[list[Saved], tuple[str, ...]]:
    """Without those that had joined by themselves and cannot be used here; and a note of each."""
    kept, notes = [], []
    for saved in components:
        absence = _absence(saved, kernel) if _has_joined(saved) else None
        if absence is None:
            kept.append(saved)
        else:
            owner = f"{saved['dist']} {saved['version']}".strip()
            notes.append(
                f"{saved['slot']} {saved['name']!r} ({owner}) had joined by itself and is left "
                f"out: {absence}"
            )
    return kept, tuple(notes)


def _absence(saved: Saved, kernel: Kernel) -> str | None:
    """Why a component cannot be used here, or None if it can."""
    kind, name = saved["kind"], saved["name"]
    registry = next((one for one in kernel.registries if one.kind == kind), None)
    if registry is None or name not in registry:
        return "it is not installed here"
    try:
        registry.get(name).load()
    except BrokenPlugin as error:
        return str(error)
    return None


def _settings(components: Iterable[Saved]) -> dict[str, Any]:
    """What fills the slots, and the settings of every component, by dotted key."""
    given: dict[str, Any] = {}
    for saved in components:
        slot, name = saved["slot"], saved["name"]
        if slot == "algorithm":
            prefix = ""
        elif is_group_slot(slot):
            prefix = f"{slot}."
        else:
            prefix = f"{name}."
        if _fills_slot(saved) and not _is_external(saved):
            given[slot] = name
        given |= {f"{prefix}{key}": value for key, value in saved["settings"].items()}
    return given


def _named(components: Iterable[Saved], passed: Iterable[Any]) -> tuple[str, list[str]]:
    """The algorithm, and the names of the plugins that fill no slot.

    Raises:
        PlanError: for a component from a place, or an object, that was not passed again.
    """
    algo, names = "", []
    for saved in components:
        slot, name, dist = saved["slot"], saved["name"], saved["dist"]
        if slot == "algorithm":
            algo = name
        elif _is_external(saved):
            if not any(dist == plugin or name in str(plugin) for plugin in passed):
                typed = "" if dist == PASSED else f" or --plugin {dist}"
                raise PlanError(
                    f"this model was made with {slot} {name!r} ({dist}), which no file may run "
                    f"by itself. Pass it again: plugins=[…]{typed}"
                )
        elif not _fills_slot(saved):
            names.append(name)
    return algo, names


def _fills_slot(saved: Saved) -> bool:
    return saved["slot"] in SLOTS or is_group_slot(saved["slot"])


def _is_external(saved: Saved) -> bool:
    """Whether a component came from a place or was passed as an object."""
    return is_place(saved["dist"]) or saved["dist"] == PASSED


def _without_callables(given: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, str]]:
    """The settings that a file can hold, and of functions the names, by the key of the setting.

    No setting of a component may name the environment (`env.id`): the plan says what it is.
    """
    names = {key: value["callable"] for key, value in given.items() if _was_callable(value)}
    return {key: value for key, value in given.items() if key not in (*names, "env.id")}, names


def _was_callable(value: Any) -> bool:
    """Whether a setting was a function, as `settings.plain` writes it."""
    return isinstance(value, Mapping) and value.keys() == {"callable"}


def _in_slots(given: Mapping[str, Any]) -> list[Any]:
    return [value for key, value in given.items() if key in SLOTS or is_group_slot(key)]


def _refuse_places(names: Iterable[Any]) -> None:
    """PlanError for a name that would make planning look at a place."""
    for name in names:
        if is_place(str(name)):
            raise PlanError(f"this model names {name!r}, a place, which no file may load from.")


def _refusals(plan: Mapping[str, Any], kernel: Kernel) -> list[str]:
    """What the user had left out, so that it does not come back by itself."""
    installed = {entry.name for registry in kernel.registries for entry in registry}
    return [f"no:{name}" for name in plan.get("refused", ()) if name in installed]


def _environment(saved: Mapping[str, Any], env: Any, kernel: Kernel) -> dict[str, Any]:
    """The environment with its keywords: the saved one, or the one that is passed now."""
    name, was_passed = saved["name"], saved["passed_as_object"]
    kwargs = {f"env.{key}": value for key, value in saved["kwargs"].items() if key != "id"}
    if env is not None:
        is_same = choose_environment(env, kernel.registries, {}).name == name
        return {"env": env, **(kwargs if is_same else {})}
    if was_passed or _runs_code(name, kernel):
        was, place = "an object" if was_passed else "code", saved.get("again")
        typed = f"--env {place}" if place else "it must stand in a file for --env ./file.py:Class"
        raise PlanError(
            f"this model's environment {name!r} was {was}, which no file may run by itself. "
            f"Pass it again: env=… in Python, or {typed}"
        )
    return {"env": name, **kwargs}


def _runs_code(name: str, kernel: Kernel) -> bool:
    """Whether the component that answers to this environment runs code that the name points to."""
    entry, _ = kernel.registries.environments.ask("environment", name)
    return bool(entry.component().runs_code)
