"""Refuses, while planning, expert data that cannot be learnt from, and a setting without effect."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rlk.errors import BadFile, PlanError
from rlk_on_policy.checks import refuse_unread_epsilon

if TYPE_CHECKING:
    from rlk.planning.plan import Plan
    from rlk_bc.config import BCConfig


def check(config: BCConfig, plan: Plan) -> None:
    """Check the algorithm's settings; those of the expert are checked by `check_expert`.

    Raises:
        PlanError: for an `adam_epsilon` that the optimiser ignores.
    """
    refuse_unread_epsilon(plan, "adam_epsilon")


def check_expert(config: Any, plan: Plan) -> None:
    """Check that there is an expert, and that it has the plan's spaces.

    A model can be loaded without the file; training on then refuses to begin. An algorithm that
    does not learn offline is refused by planning itself.

    Raises:
        PlanError: saying what to type.
    """
    from rlk_expert_data.images import is_paths  # not at the top: components import no numpy
    from rlk_expert_data.source import Absent, read

    if plan.algorithm.component.collects not in ("offline", None):
        return
    if config.expert_path is None:
        raise PlanError(
            f"{plan.algorithm.title} learns from an expert's transitions: use "
            "--set expert_path=FILE, a file of rlk_expert_data.generate_expert_traj or minari:ID."
        )
    try:
        found = read(config.expert_path, config.traj_limitation)
    except BadFile as error:
        if isinstance(error, Absent) and plan.restores_state:
            return
        raise PlanError(str(error)) from None
    if not is_paths(found.observation):
        found.fitted(plan.observation_space, plan.action_space)
