"""`TD3`: twin delayed DDPG (Fujimoto et al. 2018, arXiv 1802.09477)."""

from __future__ import annotations

from typing import Any

from rlk_baselines.argument_types import Folder, Keywords, Schedulable, TrainFreq
from rlk_baselines.arguments import LAST, Argument, Needed, Rate, constructor
from rlk_baselines.models import DeterministicModel


class TD3(DeterministicModel):
    """Twin delayed DDPG (Fujimoto et al. 2018, arXiv 1802.09477).

    Its parameters are those of the plugin `td3`; the README of rlk-td3 describes them.
    """

    algo = "td3"
    rows = 4
    has_cnns_apart = True

    @constructor(
        Argument("learning_rate", change=Rate(("critic", "actor"))),
        Argument("target_noise_clip", needs=Needed("target_policy_noise", "… above 0")),
        *LAST,
    )
    def __init__(
        self,
        policy: str | type[Any],
        env: Any,
        gamma: float = 0.99,
        learning_rate: Schedulable = 0.0003,
        buffer_size: int = 50_000,
        learning_starts: int = 100,
        train_freq: TrainFreq = 100,
        gradient_steps: int = 100,
        batch_size: int = 128,
        tau: float = 0.005,
        policy_delay: int = 2,
        action_noise: Any = None,
        target_policy_noise: float = 0.2,
        target_noise_clip: float = 0.5,
        random_exploration: float = 0.0,
        verbose: int = 0,
        tensorboard_log: Folder | None = None,
        _init_setup_model: bool = True,
        policy_kwargs: Keywords | None = None,
        full_tensorboard_log: bool = False,
        seed: int | None = None,
        n_cpu_tf_sess: int | None = None,
    ) -> None: ...
