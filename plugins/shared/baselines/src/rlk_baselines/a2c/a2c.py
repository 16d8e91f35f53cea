"""`A2C`: advantage actor-critic (Mnih et al. 2016, arXiv 1602.01783)."""

from __future__ import annotations

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
