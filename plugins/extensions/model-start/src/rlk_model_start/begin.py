"""Loads the parameters of a model into a run that was just built."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rlk.errors import BadFile, RlkError
from rlk.registry.kinds import is_group_slot
from rlk.saving import saved_files
from rlk.saving.named_parameters import named_parameters, parameters_of, put_parameters
from rlk.saving.restored_parts import bad_if_it_fails, part_of
from rlk.saving.state_check import check_state
from rlk.saving.untrained import restore_untrained
from rlk.terminal import print_on
from rlk_model_start.fit import other_observations, other_parts

if TYPE_CHECKING:
    from torch import Tensor

    from rlk.planning.plan import Plan
    from rlk.protocols import State
    from rlk.running.run import Run

#: At most so many parameters that do not fit are named.
SHOWN = 5


def begin(run: Run, path: Path, *, exact_match: bool = True) -> None:
    """Load a model's policy and its algorithm's state; its optimiser's, if both are the same.

    Clocks, random streams and schedules are those of a new run.

    Args:
        run: just built.
        path: of the model.
        exact_match: whether both must have the same parameters; else those that both have are
            loaded.

    Raises:
        BadFile: if it does not fit; the error names parameters that differ.
    """
    state = saved_files.read(path, run.plan.kernel)
    saved = state["manifest"]["plan"]
    try:
        with bad_if_it_fails("it cannot be loaded"):
            missing = _take_parameters(run, state, exact_match=exact_match)
            restore_untrained(run, part_of(state, "buffers"))
            goes_on = _take_optimiser(run, state)
    except RlkError as error:
        hint = other_observations(saved, run.plan) + other_parts(saved, run.plan)
        raise BadFile(f"model-start: {path} does not fit this run: {error}{hint}") from error
    run.collector.forget()  # so its actor begins with these parameters
    if run.plan.verbose and run.communicator.rank == 0:
        steps = f"{state['manifest']['timesteps']:,}"
        optimiser = "keeps its state" if goes_on else "begins anew"
        print_on(
            sys.stderr,
            f"model-start: the run begins with {path}, which was trained for {steps} timesteps; "
            f"its optimiser {optimiser}{_without(missing)}",
        )


def _take_parameters(run: Run, state: State, *, exact_match: bool) -> list[str]:
    """All parameters of the policy, and the others of the file that this run has as well.

    Returns:
        The run's parameters that the model does not have; none with `exact_match`.
    """
    parts = [part_of(state, part) for part in ("parameters", "algorithm")]
    saved, own = named_parameters(*parts), parameters_of(run)
    policy = set(named_parameters(parts[0], {}))
    both = own.keys() & saved.keys()
    differ = sorted((own.keys() | policy if exact_match else both) - _alike(saved, own))
    if not both:
        raise BadFile("it has none of this run's parameters.")
    if differ:
        named = "; ".join(_difference(name, saved, own) for name in differ[:SHOWN])
        more = f"; and {len(differ) - SHOWN} more" if len(differ) > SHOWN else ""
        raise BadFile(f"{named}{more}.")
    put_parameters(run, {name: saved[name] for name in both}, exact_match=False)
    return sorted(own.keys() - both)


def _without(missing: list[str]) -> str:
    """A clause on the parameters that the model does not have."""
    return f"; {_shortened(missing)} are not in it, and begin anew" if missing else ""


def _shortened(names: list[str]) -> str:
    more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
    return f"{', '.join(names[:SHOWN])}{more}"


def _alike(saved: Mapping[str, Tensor], own: Mapping[str, Tensor]) -> set[str]:
    """The names that both have, with the same shape."""
    both = own.keys() & saved.keys()
    return {name for name in both if saved[name].shape == own[name].shape}


def _difference(name: str, saved: Mapping[str, Tensor], own: Mapping[str, Tensor]) -> str:
    there, here = (
        list(found[name].shape) if name in found else "missing" for found in (saved, own)
    )
    return f"parameter {name} is {there} in the model and {here} here"


def _take_optimiser(run: Run, state: State) -> bool:
    """Whether algorithm and optimisers are the same, so that their state can be loaded."""
    if _optimisers(state["manifest"]["plan"]) != _own_optimisers(run.plan):
        return False
    saved = part_of(state, "optimise")
    check_state(saved, run.optimise.state_dict(), "the state of its optimiser")
    run.optimise.load_state_dict(saved)
    return True


def _optimisers(saved: Mapping[str, Any]) -> dict[str, str]:
    found = {one["role"]: one["name"] for one in saved["components"]}
    return {role: name for role, name in found.items() if _is_wanted(role)}


def _own_optimisers(plan: Plan) -> dict[str, str]:
    return {choice.role: choice.name for choice in plan.choices() if _is_wanted(choice.role)}


def _is_wanted(role: str) -> bool:
    return role in ("algorithm", "optimiser") or is_group_slot(role)
