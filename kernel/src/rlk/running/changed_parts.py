"""A saved state and a run with other parts: what is refused, and which part begins anew."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import TYPE_CHECKING

from rlk.errors import BadFile
from rlk.protocols import State

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
        slot = f"{group}_optimiser"
        before = saved.get(slot, saved.get("optimiser"))
        now = run.plan.optimisers.get(slot, run.plan.optimiser).name
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


@contextlib.contextmanager
def naming_other_noises(run: Run, state: State) -> Iterator[None]:
    """Let a collector's state that does not fit say so if that is because of another noise."""
    components = state["manifest"]["plan"]["components"]
    saved = [one["name"] for one in components if one.get("kind") == "noises"]
    now = [choice.name for choice in run.plan.noises]
    try:
        yield
    except BadFile as error:
        if saved == now:
            raise
        raise BadFile(
            f"the checkpoint was taken within episodes, with {_noises(saved)}, and this run has "
            f"{_noises(now)}. Resume it without changing its noise; a model (model.zip), which "
            "begins new episodes, takes any."
        ) from error


def _noises(names: list[str]) -> str:
    if not names:
        return "no noise"
    return f"the noise{'s' * (len(names) > 1)} {' and '.join(map(repr, names))}"
