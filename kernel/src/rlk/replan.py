"""From a saved plan back to a RunSpec. Only names of installed components are taken from a file."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import attrs

from rlk.errors import PlanError
from rlk.spec import SLOTS, RunSpec, make_spec

ORIGIN = "saved plan"


def spec_of(
    plan: Mapping[str, Any],
    *,
    env: Any = None,
    plugins: tuple[Any, ...] = (),
    changes: Mapping[str, Any] | None = None,
    observers: bool = False,
) -> RunSpec:
    """The spec that makes a saved plan again.

    Args:
        plan: `Plan.as_json()`. env, plugins: what a file cannot hold, passed again.
        changes: settings on top of the saved ones.
        observers: also what only watches (callbacks, loggers); an agent that was loaded to act has
            none.

    Raises:
        PlanError: if something was passed as an object or a file and is not passed again.
    """
    settings: dict[str, Any] = {}
    slots: dict[str, str] = {}
    names: list[str] = []
    algo = ""
    callables: list[str] = []
    for component in plan["components"]:
        slot, name = component["slot"], component["name"]
        if slot in ("callback", "logger") and not observers:
            continue
        given = {k: v for k, v in component["settings"].items() if not _is_callable(v)}
        lost = [k for k, v in component["settings"].items() if _is_callable(v)]
        callables += [k if slot == "algorithm" else f"{name}.{k}" for k in lost]
        if slot == "algorithm":
            algo = name
            settings |= given
            continue
        if (
            ":" in component["dist"]
            or component["dist"].endswith(".py")
            or component["dist"].startswith("passed")
        ):
            if not any(name in str(plugin) for plugin in plugins):
                raise PlanError(
                    f"this model was made with {slot} {name!r} from {component['dist']}, which "
                    "no file may run by "
                    f"itself. Pass it again: plugins=[…] or --plugin {component['dist']}"
                )
        elif slot in SLOTS or slot.endswith("_optimiser"):
            slots[slot] = name
        else:
            names.append(name)
        owner = slot if slot.endswith("_optimiser") else name
        settings |= {f"{owner}.{key}": value for key, value in given.items()}
    changed = dict(changes or {})
    missing = [key for key in callables if key not in changed]
    if missing and observers:
        raise PlanError(f"{', '.join(missing)} was a callable, which no file holds. Pass it again.")
    chosen = _environment(plan["env"], env)
    run = {
        key: value for key, value in plan["run"].items() if value is not None and key != "preset"
    }
    spec = make_spec(algo, {**run, **slots, **chosen, **settings}, origin=ORIGIN)
    together: tuple[Any, ...] = (*names, *plugins)
    spec = attrs.evolve(spec, plugins=together, preset="none")
    return make_spec(algo, changed).over(spec) if changed else spec


def _environment(saved: Mapping[str, Any], env: Any) -> dict[str, Any]:
    if env is not None:
        return {"env": env}
    if saved["passed_as_object"]:
        raise PlanError(
            f"this model's environment {saved['name']!r} was passed as an object. Pass it again: "
            "env=…"
        )
    kwargs = {f"env.{key}": value for key, value in saved["kwargs"].items()}
    head, found, tail = saved["name"].partition(":")
    if found and (head.endswith(".py") or tail.isidentifier()):
        raise PlanError(
            f"this model's environment is {saved['name']!r}, code that no file may run by "
            "itself. Pass it again: "
            f"env={saved['name']!r} (--env {saved['name']})"
        )
    return {"env": saved["name"], **kwargs}


def _is_callable(value: Any) -> bool:
    return isinstance(value, Mapping) and set(value) == {"callable"}
