"""A saved state and a run with other parts: what is refused, begins anew, or acts otherwise.

`saved` is the plan in the file, and `plan` the one that the state is restored in.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from rlk.errors import BadFile, PlanError
from rlk.plain_values import object_in
from rlk.protocols import State
from rlk.registry.external import is_external
from rlk.registry.kinds import group_slot
from rlk.settings import unstructure

if TYPE_CHECKING:
    from rlk.planning.plan import Plan
    from rlk.running.run import Run


#: The slots of the components that a policy acts by.
_ACTING_SLOTS = ("policy", "distribution")


def changed_acting(saved: Mapping[str, Any], plan: Plan) -> Iterator[tuple[str, str]]:
    """Changed parts of a plan by which the saved parameters may act otherwise.

    Each is a role and a sentence on it. Functions are not compared: those that were not passed
    again are missed elsewhere.
    """
    before = list(saved["components"])
    for choice in plan.choices():
        role = choice.role
        acts = role in _ACTING_SLOTS or role in ("wrapper", "extension")
        if not acts or choice.component.only_trains:
            continue
        of_role = [one for one in before if one["role"] == role]
        there = next((one for one in of_role if one["name"] == choice.name), None)
        if there is not None:
            before.remove(there)
            now = unstructure(choice.config)
            for key, value in there["settings"].items():
                if key in now and now[key] != value and object_in(value) is None:
                    was = f"{role} {choice.name!r} had {key}={value!r}"
                    yield role, f"{was}, and now has {now[key]!r}"
        elif role in _ACTING_SLOTS and of_role:
            was = f"the {role} was {of_role[0]['name']!r}"
            yield role, f"{was}; {choice.name!r} may act otherwise by the same parameters"


@contextlib.contextmanager
def refused_as_other_policy(saved: Mapping[str, Any], plan: Plan) -> Iterator[None]:
    """Turn a BadFile into a PlanError if the policy is not certainly the one that was saved.

    It is another one, or one that the program passed, whose class may have changed.
    """
    try:
        yield
    except BadFile as error:
        before = _names_by_role(saved).get("policy", "")
        if plan.policy.name == before and not is_external(plan.policy.dist):
            raise
        raise PlanError(
            f"{plan.policy.title} makes other networks than the saved model's policy {before!r}: "
            f"{error}"
        ) from error


def with_new_optimisers(run: Run, state: State) -> tuple[State, list[str]]:
    """The saved state, in which optimisers that another one replaces have the state of a new one.

    Returns:
        That state, and a sentence on each parameter group whose optimiser begins anew.
    """
    saved = _names_by_role(state["manifest"]["plan"])
    fresh, differs = dict[str, State](), list[str]()
    for group, step in run.optimise.steps.items():
        before = saved.get(group_slot(group), saved.get("optimiser"))
        now = run.plan.optimiser_of(group).name
        if now != before:
            fresh[group] = step.state_dict()
            differs.append(
                f"the optimiser of group {group!r} was {before!r}; {now!r} begins without its state"
            )
    if fresh and isinstance(state.get("optimise"), dict):
        state = {**state, "optimise": {**state["optimise"], **fresh}}
    return state, differs


def changed_collector(saved: Mapping[str, Any], plan: Plan) -> str | None:
    """A sentence on a collector that begins anew because the run had another one; else None."""
    before = _names_by_role(saved).get("collector")
    if before == plan.collector.name:
        return None
    begins = "begins" if plan.collector.component.steps_nothing else "starts new episodes"
    return f"the collector was {before!r}; {plan.collector.name!r} {begins} without its state"


def refuse_other_n_envs(run: Run, saved: int) -> None:
    """BadFile if a checkpoint has the state of another number of environments."""
    if saved != run.n_envs:
        raise BadFile(
            f"the checkpoint has the state of {saved} environment{'s' * (saved != 1)}, and this "
            f"run has {run.n_envs}. Resume it with n_envs={saved}; a model (model.zip), which "
            "begins new episodes, takes any number."
        )


def _names_by_role(saved: Mapping[str, Any]) -> dict[str, str]:
    """By role, the component of a saved plan that has it; the last one where several have."""
    return {one["role"]: one["name"] for one in saved["components"]}
