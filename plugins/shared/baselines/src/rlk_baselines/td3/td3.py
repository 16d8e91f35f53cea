"""`TD3`: twin delayed DDPG (Fujimoto et al. 2018, arXiv 1802.09477)."""

from __future__ import annotations

from typing import Any, Self

from rlk_baselines.common.base_class import Callback
from rlk_baselines.models import DeterministicModel, refuse_replay_wrapper


class TD3(DeterministicModel):
    """Twin delayed DDPG (Fujimoto et al. 2018, arXiv 1802.09477).

    Its parameters are those of the plugin `td3`; the README of rlk-td3 describes them.
    """

    algo = "td3"
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

    def learn(
        self,
        total_timesteps: int,
        callback: Callback = None,
        log_interval: int = 4,
        tb_log_name: str = "TD3",
        reset_num_timesteps: bool = True,
        replay_wrapper: Any = None,
    ) -> Self:
        """As `BaseRLModel.learn`; `replay_wrapper` must be None, because HER does not need it."""
        refuse_replay_wrapper(replay_wrapper)
        return super().learn(
            total_timesteps, callback, log_interval, tb_log_name, reset_num_timesteps
        )
