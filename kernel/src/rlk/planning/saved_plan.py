"""From a saved plan back to a RunSpec. Only names of installed components are taken from a file."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rlk.errors import PlanError
from rlk.planning.environment import choose_environment
from rlk.planning.spec import SLOTS, RunSpec, is_group_slot, make_spec
from rlk.registry.external import PASSED, is_place
from rlk.registry.kernel import Kernel


def spec_of(
    plan: Mapping[str, Any],
    kernel: Kernel,
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
        observers: with what only watches (callbacks, loggers); to act an agent needs none."""
    said = {key: v for key, v in plan["run"].items() if v is not None}
    changes, names, algo = changes or {}, [], ""
    for component in plan["components"]:
        slot, name, dist = component["slot"], component["name"], component["dist"]
        watches = slot in ("callback", "logger") or (slot == "extension" and dist == PASSED)
        if watches and not observers:
            continue
        if slot == "algorithm":
            algo = name
        elif is_place(dist) or dist == PASSED:
            if not any(name in str(plugin) for plugin in plugins):
                raise PlanError(
                    f"this model was made with {slot} {name!r} from {dist}, which no file may run "
                    f"by itself. Pass it again: plugins=[…] or --plugin {dist}"
                )
        elif slot in SLOTS or is_group_slot(slot):
            said[slot] = name
        else:
            names.append(name)
        prefix = "" if slot == "algorithm" else f"{slot if is_group_slot(slot) else name}."
        said |= {f"{prefix}{key}": value for key, value in component["settings"].items()}
    lost = [key for key, v in said.items() if isinstance(v, Mapping) and v.keys() == {"callable"}]
    missing = [key for key in lost if key not in changes]
    if missing and observers:
        raise PlanError(f"{', '.join(missing)} was a callable, which no file holds. Pass it again.")
    # Settings of no component name the environment.
    said = {key: value for key, value in said.items() if key not in (*lost, "env.id")}
    filled = [value for key, value in said.items() if key in SLOTS or is_group_slot(key)]
    if places := [name for name in (algo, *names, *filled) if is_place(str(name))]:
        raise PlanError(f"this model names {places[0]!r}, a place, which no file may load from.")
    said |= _environment(plan["env"], env, kernel)
    said |= {"preset": "none", "plugins": [*names, *plugins]}
    return make_spec(algo, changes).over(make_spec(algo, said, origin="saved plan"))


def _environment(saved: Mapping[str, Any], env: Any, kernel: Kernel) -> dict[str, Any]:
    name, passed = saved["name"], saved["passed_as_object"]
    kwargs = {f"env.{key}": value for key, value in saved["kwargs"].items() if key != "id"}
    environments = kernel.registries.environments
    if env is not None:
        same = choose_environment(env, kernel.registries, {}).name == name
        return {"env": env} | (kwargs if same else {})
    if passed or environments.ask("environment", name)[0].component().runs_code:
        was = "an object" if passed else "code"
        raise PlanError(
            f"this model's environment {name!r} was {was}, which no file may run by itself. "
            f"Pass it again: env=… in Python, or --env {name}"
        )
    return {"env": name} | kwargs
