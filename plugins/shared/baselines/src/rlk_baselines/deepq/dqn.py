"""`DQN`: deep Q-network (Mnih et al. 2013, arXiv 1312.5602), double, dueling and prioritised."""

from __future__ import annotations

from typing import Any

from rlk_baselines.arguments import LAST, THREADS, Argument, Needed, Rate
from rlk_baselines.deepq.dueling import with_dueling
from rlk_baselines.models import OffPolicyRLModel
from rlk_baselines.policies.stepping import QStep

_PRIORITIES = Needed("prioritized_replay", "True")


class DQN(OffPolicyRLModel):
    """Deep Q-network (Mnih et al. 2013, arXiv 1312.5602), double, dueling and prioritised.

    Its parameters are those of the plugin `dqn`; the README of rlk-dqn describes them.
    """

    algo = "dqn"
    stepped = QStep
    arguments = (
        Argument("gamma"),
        Argument("learning_rate", change=Rate(("q",))),
        Argument("buffer_size"),
        Argument("exploration_fraction"),
        Argument("exploration_final_eps"),
        Argument("exploration_initial_eps"),
        Argument("train_freq"),
        Argument("batch_size"),
        Argument("double_q"),
        Argument("learning_starts"),
        Argument("target_network_update_freq"),
        Argument("prioritized_replay"),
        Argument("prioritized_replay_alpha", needs=_PRIORITIES),
        Argument("prioritized_replay_beta0", needs=_PRIORITIES),
        Argument("prioritized_replay_beta_iters", needs=_PRIORITIES),
        Argument("prioritized_replay_eps", needs=_PRIORITIES),
        Argument("param_noise"),
        THREADS,
        *LAST[:-1],
    )

    def _policy_settings(self) -> dict[str, Any]:
        """As in `Constructed`; in rlk, `dueling` is a setting of the algorithm."""
        return with_dueling(super()._policy_settings(), self.observation_space)
