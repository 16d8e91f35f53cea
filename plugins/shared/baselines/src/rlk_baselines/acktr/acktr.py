"""`ACKTR`: actor-critic with K-FAC and a trust region (Wu et al. 2017, arXiv 1708.05144)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from rlk_baselines.arguments import replaced
from rlk_baselines.models import ActorCriticRLModel


class ACKTR(ActorCriticRLModel):
    """Actor-critic with K-FAC and a trust region (Wu et al. 2017, arXiv 1708.05144).

    Its parameters are those of the plugin `acktr`; the README of rlk-acktr describes them.
    """

    algo = "acktr"
    names = (
        "gamma",
        "nprocs",
        "n_steps",
        "ent_coef",
        "vf_coef",
        "vf_fisher_coef",
        "learning_rate",
        "max_grad_norm",
        "kfac_clip",
        "lr_schedule",
        "verbose",
        "tensorboard_log",
        "_init_setup_model",
        "async_eigen_decomp",
        "kfac_update",
        "gae_lambda",
        "policy_kwargs",
        "full_tensorboard_log",
        "seed",
        "n_cpu_tf_sess",
    )
    usual: ClassVar[Mapping[str, Any]] = {"nprocs": None, "n_cpu_tf_sess": 1}

    def translated(self, settings: dict[str, Any]) -> dict[str, Any]:
        replaced(settings, "nprocs", "n_cpu_tf_sess")
        return settings
