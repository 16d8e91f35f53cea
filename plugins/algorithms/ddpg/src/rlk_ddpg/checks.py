"""What DDPG refuses while a run is planned. Imports no torch."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rlk.errors import PlanError
from rlk_ddpg.config import DDPGConfig

if TYPE_CHECKING:
    from rlk.planning.plan import Plan


def check(config: DDPGConfig, plan: Plan) -> None:
    """Refuse a noise on actions given as `param_noise`.

    Raises:
        PlanError: if the plan has no noise on parameters.
    """
    if config.param_noise and not any(one.component.perturbs_policy for one in plan.noises):
        raise PlanError(
            f"{plan.algorithm.title}: param_noise={config.param_noise!r} changes actions, not "
            "parameters. Use --set param_noise=adaptive-parameter-noise, and --set action_noise=… "
            "for noise on actions."
        )
