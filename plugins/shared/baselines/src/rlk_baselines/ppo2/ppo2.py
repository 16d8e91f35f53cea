"""`PPO2`: proximal policy optimisation (Schulman et al. 2017, arXiv 1707.06347)."""

from __future__ import annotations

from typing import Any

from rlk_baselines.arguments import LAST, Argument, Rate, Scheduled
from rlk_baselines.common.schedules import get_schedule_fn
from rlk_baselines.models import ActorCriticRLModel


class PPO2(ActorCriticRLModel):
    """Proximal policy optimisation (Schulman et al. 2017, arXiv 1707.06347).

    Its parameters are those of the plugin `ppo2`; the README of rlk-ppo2 describes them.
    """

    algo = "ppo2"
    rows = 1
    arguments = (
        Argument("gamma", change="at once"),
        Argument("n_steps"),
        Argument("ent_coef", change="at once"),
        Argument("learning_rate", change=Rate(("policy",))),
        Argument("vf_coef", change="at once"),
        Argument("max_grad_norm"),
        Argument("lam", change="at once"),
        Argument("nminibatches"),
        Argument("noptepochs", change="at once"),
        Argument("cliprange", change=Scheduled("clip_range")),
        Argument("cliprange_vf", change=Scheduled("clip_range_vf")),
        *LAST,
    )

    def own_constants(self, total_timesteps: int) -> dict[str, Any]:
        value = self.cliprange_vf
        schedule = None if value is None else get_schedule_fn(value)
        return {"cliprange_vf": schedule, "n_updates": total_timesteps // self.n_batch}
