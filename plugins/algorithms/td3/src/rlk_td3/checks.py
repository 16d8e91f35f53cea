"""What TD3 refuses while a run is planned. Imports no torch."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rlk.errors import PlanError
from rlk_td3.config import TD3Config

if TYPE_CHECKING:
    from rlk.planning.plan import Plan


def check(config: TD3Config, plan: Plan) -> None:
    """Refuse a bound of a noise that is always 0; a bound of 0 is in line with that.

    Raises:
        PlanError: if `target_noise_clip` is changed while `target_policy_noise` is 0.
    """
    clip = config.target_noise_clip
    if clip and not config.target_policy_noise and plan.algorithm.changed("target_noise_clip"):
        raise PlanError(
            f"{plan.algorithm.title}: target_noise_clip={clip!r} bounds the noise of "
            "target_policy_noise, and target_policy_noise=0 makes none. Set target_policy_noise "
            "above 0, or leave target_noise_clip out."
        )
