"""`DDPG`: deep deterministic policy gradient (Lillicrap et al. 2015, arXiv 1509.02971)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from rlk_baselines.argument_types import Folder, Keywords, Schedulable, TrainFreq
from rlk_baselines.arguments import Argument, Rate, constructor
from rlk_sb3.algorithm import LAST, Device
from rlk_sb3.common.off_policy_algorithm import REPLAY
from rlk_sb3.td3.td3 import TD3


class DDPG(TD3):
    """Deep deterministic policy gradient (Lillicrap et al. 2015, arXiv 1509.02971).

    As in Stable-Baselines3, it is TD3 that updates the policy with every batch, and whose targets
    have no noise. It has one critic, unless `policy_kwargs` has `n_critics`.
    """

    algo = "td3"
    fixed: ClassVar[Mapping[str, Any]] = {
        "policy_delay": 1,
        "target_policy_noise": 0.0,
        "n_critics": 1,
    }

    @constructor(
        Argument("learning_rate", change=Rate(("critic", "actor"))),
        *REPLAY,
        *LAST,
    )
    def __init__(
        self,
        policy: str | type[Any],
        env: Any,
        learning_rate: Schedulable = 0.001,
        buffer_size: int = 1_000_000,
        learning_starts: int = 100,
        batch_size: int = 256,
        tau: float = 0.005,
        gamma: float = 0.99,
        train_freq: TrainFreq = 1,
        gradient_steps: int = 1,
        action_noise: Any = None,
        replay_buffer_class: type[Any] | None = None,
        replay_buffer_kwargs: Keywords | None = None,
        optimize_memory_usage: bool = False,
        n_steps: int = 1,
        stats_window_size: int = 100,
        tensorboard_log: Folder | None = None,
        policy_kwargs: Keywords | None = None,
        verbose: int = 0,
        seed: int | None = None,
        device: Device = "auto",
        _init_setup_model: bool = True,
    ) -> None: ...
