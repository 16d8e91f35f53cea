"""`SAC`: soft actor-critic (Haarnoja et al. 2018, arXiv 1801.01290)."""

from __future__ import annotations

from typing import Any, Self

from rlk_baselines.common.base_class import Callback
from rlk_baselines.models import OffPolicyRLModel, refuse_replay_wrapper


class SAC(OffPolicyRLModel):
    """Soft actor-critic (Haarnoja et al. 2018, arXiv 1801.01290).

    Its parameters are those of the plugin `sac`; the README of rlk-sac describes them.
    """

    algo = "sac"
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

    def learn(
        self,
        total_timesteps: int,
        callback: Callback = None,
        log_interval: int = 4,
        tb_log_name: str = "SAC",
        reset_num_timesteps: bool = True,
        replay_wrapper: Any = None,
    ) -> Self:
        """As `BaseRLModel.learn`; `replay_wrapper` must be None, because HER does not need it."""
        refuse_replay_wrapper(replay_wrapper)
        return super().learn(
            total_timesteps, callback, log_interval, tb_log_name, reset_num_timesteps
        )
