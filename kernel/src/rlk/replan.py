"""From a saved plan back to a RunSpec. Only names of installed components are taken from a file."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rlk.environment import EnvChoice, choose_environment
from rlk.errors import PlanError
from rlk.loose import PASSED, is_path
from rlk.spec import SLOTS, RunSpec, is_group_slot, make_spec


def spec_of(
    plan: Mapping[str, Any],
    *,
    env: Any = None,
    plugins: tuple[Any, ...] = (),
    changes: Mapping[str, Any] | None = None,
    observers: bool = False,
) -> RunSpec:
    """The spec that makes a saved plan (`Plan.as_json()`) again.

    Args:
        env, plugins: what no file may hold (objects, code), passed again; keywords come along.
        changes: settings on top of the saved ones.
        observers: with what only watches (callbacks, loggers); to act an agent needs none.
    """
    said: dict[str, Any] = {key: v for key, v in plan["run"].items() if v is not None}
    said |= {"preset": "none"} | _environment(plan["env"], env)
    changes, names, callables, algo = changes or {}, [], [], ""
    for component in plan["components"]:
        slot, name, dist = component["slot"], component["name"], component["dist"]
        watches = slot in ("callback", "logger") or (slot == "extension" and dist == PASSED)
        if watches and not observers:
            continue
        if slot == "algorithm":
            algo = name
        elif is_path(dist) or dist == PASSED:
            if not any(name in str(plugin) for plugin in plugins):
                raise PlanError(
                    f"this model was made with {slot} {name!r} from {dist}, which no file may run "
                    f"by itself. Pass it again: plugins=[…] or --plugin {dist}"
                )
        elif slot in SLOTS or is_group_slot(slot):
            said[slot] = name
        else:
            names.append(name)
        owner = slot if is_group_slot(slot) else name
        prefix = "" if slot == "algorithm" else f"{owner}."
        for key, value in component["settings"].items():
            if isinstance(value, Mapping) and set(value) == {"callable"}:
                callables.append(f"{prefix}{key}")
            else:
                said[f"{prefix}{key}"] = value
    missing = [key for key in callables if key not in changes]
    if missing and observers:
        raise PlanError(f"{', '.join(missing)} was a callable, which no file holds. Pass it again.")
    spec = make_spec(algo, said | {"plugins": [*names, *plugins]}, origin="saved plan")
    return make_spec(algo, changes).over(spec)


def _environment(saved: Mapping[str, Any], env: Any) -> dict[str, Any]:
    name, kwargs = saved["name"], {f"env.{key}": v for key, v in saved["kwargs"].items()}
    if env is not None:
        return {"env": env, **(kwargs if choose_environment(env, {}).name == name else {})}
    if saved["passed_as_object"] or EnvChoice(name).is_code:
        what = "an object" if saved["passed_as_object"] else "code"
        raise PlanError(
            f"this model's environment {name!r} was {what}, which no file may run by itself. "
            f"Pass it again: env=… in Python, or --env {name}"
        )
    return {"env": name, **kwargs}
