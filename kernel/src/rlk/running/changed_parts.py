"""A saved state and a run with other parts: what is refused, and which part begins anew."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rlk.errors import BadFile
from rlk.protocols import State
from rlk.registry.kinds import group_slot

if TYPE_CHECKING:
    from rlk.running.run import Run


def with_new_optimisers(run: Run, state: State) -> tuple[State, list[str]]:
    """The saved state, in which optimisers that another one replaces have the state of a new one.

    Returns:
        That state, and a sentence on each parameter group whose optimiser begins anew.
    """
    saved = {one["slot"]: one["name"] for one in state["manifest"]["plan"]["components"]}
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


def refuse_other_n_envs(run: Run, saved: int) -> None:
    """BadFile if a checkpoint has the state of another number of environments."""
    if saved != run.n_envs:
        raise BadFile(
            f"the checkpoint has the state of {saved} environment{'s' * (saved != 1)}, and this "
            f"run has {run.n_envs}. Resume it with n_envs={saved}; a model (model.zip), which "
            "begins new episodes, takes any number."
        )
