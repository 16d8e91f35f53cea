"""`TD3`: twin delayed DDPG (Fujimoto et al. 2018, arXiv 1802.09477)."""

from __future__ import annotations

from rlk_baselines.models import DeterministicModel


class TD3(DeterministicModel):
    """Twin delayed DDPG (Fujimoto et al. 2018, arXiv 1802.09477).

    Its parameters are those of the plugin `td3`; the README of rlk-td3 describes them.
    """

    algo = "td3"
    rows = 4
    has_cnns_apart = True
    names = (
        "gamma",
        "learning_rate",
        "buffer_size",
        "learning_starts",
        "train_freq",
        "gradient_steps",
        "batch_size",
        "tau",
        "policy_delay",
        "action_noise",
        "target_policy_noise",
        "target_noise_clip",
        "random_exploration",
        "verbose",
        "tensorboard_log",
        "_init_setup_model",
        "policy_kwargs",
        "full_tensorboard_log",
        "seed",
        "n_cpu_tf_sess",
    )
