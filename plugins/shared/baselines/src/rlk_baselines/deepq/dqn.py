"""`DQN`: deep Q-network (Mnih et al. 2013, arXiv 1312.5602), double, dueling and prioritised."""

from __future__ import annotations

from typing import Any

from rlk_baselines.argument_types import Folder, Keywords, Schedulable, TrainFreq
from rlk_baselines.arguments import LAST, Argument, Needed, Rate, constructor
from rlk_baselines.deepq.dueling import with_dueling
from rlk_baselines.models import OffPolicyRLModel
from rlk_baselines.policies.stepping import QStep

_PRIORITIES = Needed("prioritized_replay", "True")
_OF_PRIORITIES = tuple(
    Argument(f"prioritized_replay_{name}", needs=_PRIORITIES)
    for name in ("alpha", "beta0", "beta_iters", "eps")
)


class DQN(OffPolicyRLModel):
    """Deep Q-network (Mnih et al. 2013, arXiv 1312.5602), double, dueling and prioritised.

    Its parameters are those of the plugin `dqn`; the README of rlk-dqn describes them.
    """

    algo = "dqn"
    stepped = QStep

    @constructor(
        Argument("learning_rate", change=Rate(("q",))),
        *_OF_PRIORITIES,
        *LAST,
    )
    def __init__(
        self,
        policy: str | type[Any],
        env: Any,
        gamma: float = 0.99,
        learning_rate: Schedulable = 0.0005,
        buffer_size: int = 50_000,
        exploration_fraction: float = 0.1,
        exploration_final_eps: float = 0.02,
        exploration_initial_eps: float = 1.0,
        train_freq: TrainFreq = 1,
        batch_size: int = 32,
        double_q: bool = True,
        learning_starts: int = 1000,
        target_network_update_freq: int = 500,
        prioritized_replay: bool = False,
        prioritized_replay_alpha: float = 0.6,
        prioritized_replay_beta0: float = 0.4,
        prioritized_replay_beta_iters: int | None = None,
        prioritized_replay_eps: float = 1e-6,
        param_noise: bool = False,
        n_cpu_tf_sess: int | None = None,
        verbose: int = 0,
        tensorboard_log: Folder | None = None,
        _init_setup_model: bool = True,
        policy_kwargs: Keywords | None = None,
        full_tensorboard_log: bool = False,
        seed: int | None = None,
    ) -> None: ...

    def _policy_settings(self) -> dict[str, Any]:
        """As in `Constructed`; in rlk, `dueling` is a setting of the algorithm."""
        return with_dueling(super()._policy_settings(), self.observation_space)
