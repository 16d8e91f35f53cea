"""`DQN`: deep Q-network (Mnih et al. 2013, arXiv 1312.5602), double, dueling and prioritised."""

from __future__ import annotations

from typing import Any

from rlk_baselines.deepq.dueling import with_dueling
from rlk_baselines.models import OffPolicyRLModel
from rlk_baselines.policies.stepping import QStep


class DQN(OffPolicyRLModel):
    """Deep Q-network (Mnih et al. 2013, arXiv 1312.5602), double, dueling and prioritised.

    Its parameters are those of the plugin `dqn`; the README of rlk-dqn describes them.
    """

    algo = "dqn"
    stepped = QStep
    names = (
        "gamma",
        "learning_rate",
        "buffer_size",
        "exploration_fraction",
        "exploration_final_eps",
        "exploration_initial_eps",
        "train_freq",
        "batch_size",
        "double_q",
        "learning_starts",
        "target_network_update_freq",
        "prioritized_replay",
        "prioritized_replay_alpha",
        "prioritized_replay_beta0",
        "prioritized_replay_beta_iters",
        "prioritized_replay_eps",
        "param_noise",
        "n_cpu_tf_sess",
        "verbose",
        "tensorboard_log",
        "_init_setup_model",
        "policy_kwargs",
        "full_tensorboard_log",
        "seed",
    )

    def _policy_settings(self) -> dict[str, Any]:
        """As in `Constructed`; in rlk, `dueling` is a setting of the algorithm."""
        return with_dueling(super()._policy_settings(), self.observation_space)
