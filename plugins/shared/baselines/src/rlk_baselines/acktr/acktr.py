"""`ACKTR`: actor-critic with K-FAC and a trust region (Wu et al. 2017, arXiv 1708.05144)."""

from __future__ import annotations

from rlk_baselines.arguments import LAST_OF_ONE_THREAD, Argument, Rate
from rlk_baselines.models import ActorCriticRLModel


class ACKTR(ActorCriticRLModel):
    """Actor-critic with K-FAC and a trust region (Wu et al. 2017, arXiv 1708.05144).

    Its parameters are those of the plugin `acktr`; the README of rlk-acktr describes them.
    """

    algo = "acktr"
    arguments = (
        Argument("gamma"),
        Argument("nprocs", None, rlk="n_threads", deprecated_for="n_cpu_tf_sess"),
        Argument("n_steps"),
        Argument("ent_coef"),
        Argument("vf_coef"),
        Argument("vf_fisher_coef"),
        Argument("learning_rate", change=Rate(("policy",))),
        Argument("max_grad_norm"),
        Argument("kfac_clip"),
        Argument("lr_schedule"),
        *LAST_OF_ONE_THREAD[:3],
        Argument("async_eigen_decomp"),
        Argument("kfac_update"),
        Argument("gae_lambda"),
        *LAST_OF_ONE_THREAD[3:],
    )
