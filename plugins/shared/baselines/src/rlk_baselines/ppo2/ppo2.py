"""`PPO2`: proximal policy optimisation (Schulman et al. 2017, arXiv 1707.06347)."""

from __future__ import annotations

from typing import Any

from rlk_baselines.argument_types import Folder, Keywords, Schedulable
from rlk_baselines.arguments import LAST, Argument, Rate, Scheduled, at_once, constructor
from rlk_baselines.common.schedules import get_schedule_fn
from rlk_baselines.models import ActorCriticRLModel


class PPO2(ActorCriticRLModel):
    """Proximal policy optimisation (Schulman et al. 2017, arXiv 1707.06347).

    Its parameters are those of the plugin `ppo2`; the README of rlk-ppo2 describes them.
    """

    algo = "ppo2"
    rows = 1

    @constructor(
        *at_once("gamma", "ent_coef", "vf_coef", "lam", "noptepochs"),
        Argument("learning_rate", change=Rate(("policy",))),
        Argument("cliprange", change=Scheduled("clip_range")),
        Argument("cliprange_vf", change=Scheduled("clip_range_vf")),
        *LAST,
    )
    def __init__(
        self,
        policy: str | type[Any],
        env: Any,
        gamma: float = 0.99,
        n_steps: int = 128,
        ent_coef: float = 0.01,
        learning_rate: Schedulable = 0.00025,
        vf_coef: float = 0.5,
        max_grad_norm: float | None = 0.5,
        lam: float = 0.95,
        nminibatches: int = 4,
        noptepochs: int = 4,
        cliprange: Schedulable = 0.2,
        cliprange_vf: Schedulable | None = None,
        verbose: int = 0,
        tensorboard_log: Folder | None = None,
        _init_setup_model: bool = True,
        policy_kwargs: Keywords | None = None,
        full_tensorboard_log: bool = False,
        seed: int | None = None,
        n_cpu_tf_sess: int | None = None,
    ) -> None: ...

    def own_constants(self, total_timesteps: int) -> dict[str, Any]:
        value = self.cliprange_vf
        schedule = None if value is None else get_schedule_fn(value)
        return {"cliprange_vf": schedule, "n_updates": total_timesteps // self.n_batch}
