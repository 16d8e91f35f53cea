"""`A2C`: advantage actor-critic (Mnih et al. 2016, arXiv 1602.01783)."""

from __future__ import annotations

from typing import Self

from rlk_baselines.common.base_class import Callback
from rlk_baselines.models import ActorCriticRLModel


class A2C(ActorCriticRLModel):
    """Advantage actor-critic (Mnih et al. 2016, arXiv 1602.01783).

    Its parameters are those of the plugin `a2c`; the README of rlk-a2c describes them.
    """

    algo = "a2c"
    names = (
        "gamma",
        "n_steps",
        "vf_coef",
        "ent_coef",
        "max_grad_norm",
        "learning_rate",
        "alpha",
        "momentum",
        "epsilon",
        "lr_schedule",
        "verbose",
        "tensorboard_log",
        "_init_setup_model",
        "policy_kwargs",
        "full_tensorboard_log",
        "seed",
        "n_cpu_tf_sess",
    )

    def learn(
        self,
        total_timesteps: int,
        callback: Callback = None,
        log_interval: int = 100,
        tb_log_name: str = "A2C",
        reset_num_timesteps: bool = True,
    ) -> Self:
        """As `BaseRLModel.learn`."""
        return super().learn(
            total_timesteps, callback, log_interval, tb_log_name, reset_num_timesteps
        )
