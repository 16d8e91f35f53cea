"""`TRPO`: trust region policy optimisation (Schulman et al. 2015, arXiv 1502.05477)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Self

from rlk_baselines.common.base_class import Callback
from rlk_baselines.models import ActorCriticRLModel


class TRPO(ActorCriticRLModel):
    """Trust region policy optimisation (Schulman et al. 2015, arXiv 1502.05477).

    Its parameters are those of the plugin `trpo`; the README of rlk-trpo describes them.
    """

    algo = "trpo"
    trains_over_mpi = True
    names = (
        "gamma",
        "timesteps_per_batch",
        "max_kl",
        "cg_iters",
        "lam",
        "entcoeff",
        "cg_damping",
        "vf_stepsize",
        "vf_iters",
        "verbose",
        "tensorboard_log",
        "_init_setup_model",
        "policy_kwargs",
        "full_tensorboard_log",
        "seed",
        "n_cpu_tf_sess",
    )
    usual: ClassVar[Mapping[str, Any]] = {"n_cpu_tf_sess": 1}
    learns_from_vectors = False
    rows_every = 1

    def learn(
        self,
        total_timesteps: int,
        callback: Callback = None,
        log_interval: int = 100,
        tb_log_name: str = "TRPO",
        reset_num_timesteps: bool = True,
    ) -> Self:
        """As `BaseRLModel.learn`; `log_interval` is ignored: every collection logs a row."""
        return super().learn(
            total_timesteps, callback, log_interval, tb_log_name, reset_num_timesteps
        )
