"""`PPO2`: proximal policy optimisation (Schulman et al. 2017, arXiv 1707.06347)."""

from __future__ import annotations

from rlk_baselines.models import ActorCriticRLModel


class PPO2(ActorCriticRLModel):
    """Proximal policy optimisation (Schulman et al. 2017, arXiv 1707.06347).

    Its parameters are those of the plugin `ppo2`; the README of rlk-ppo2 describes them.
    """

    algo = "ppo2"
    rows = 1
    names = (
        "gamma",
        "n_steps",
        "ent_coef",
        "learning_rate",
        "vf_coef",
        "max_grad_norm",
        "lam",
        "nminibatches",
        "noptepochs",
        "cliprange",
        "cliprange_vf",
        "verbose",
        "tensorboard_log",
        "_init_setup_model",
        "policy_kwargs",
        "full_tensorboard_log",
        "seed",
        "n_cpu_tf_sess",
    )
