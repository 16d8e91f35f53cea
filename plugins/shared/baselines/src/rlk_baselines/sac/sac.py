"""`SAC`: soft actor-critic (Haarnoja et al. 2018, arXiv 1801.01290)."""

from __future__ import annotations

from rlk_baselines.models import OffPolicyRLModel


class SAC(OffPolicyRLModel):
    """Soft actor-critic (Haarnoja et al. 2018, arXiv 1801.01290).

    Its parameters are those of the plugin `sac`; the README of rlk-sac describes them.
    """

    algo = "sac"
    rows = 4
    has_cnns_apart = True
    names = (
        "gamma",
        "learning_rate",
        "buffer_size",
        "learning_starts",
        "train_freq",
        "batch_size",
        "tau",
        "ent_coef",
        "target_update_interval",
        "gradient_steps",
        "target_entropy",
        "action_noise",
        "random_exploration",
        "verbose",
        "tensorboard_log",
        "_init_setup_model",
        "policy_kwargs",
        "full_tensorboard_log",
        "seed",
        "n_cpu_tf_sess",
    )
