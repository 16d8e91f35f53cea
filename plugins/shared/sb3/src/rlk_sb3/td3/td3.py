"""`TD3`: twin delayed DDPG (Fujimoto et al. 2018, arXiv 1802.09477)."""

from __future__ import annotations

from typing import Any, ClassVar

from rlk_baselines.argument_types import Folder, Keywords, Schedulable, TrainFreq
from rlk_baselines.arguments import Argument, Needed, Rate, constructor
from rlk_sb3.algorithm import LAST, Device
from rlk_sb3.common.off_policy_algorithm import REPLAY, OffPolicyAlgorithm
from rlk_sb3.policy_view import DeterministicView
from rlk_sb3.td3.policies import TD3Policy


class TD3(OffPolicyAlgorithm):
    """Twin delayed DDPG (Fujimoto et al. 2018, arXiv 1802.09477).

    Its parameters are those of Stable-Baselines3; it trains with rlk's `td3`.
    """

    algo = "td3"
    viewed = DeterministicView
    policy_aliases: ClassVar[dict[str, Any]] = {
        **OffPolicyAlgorithm.policy_aliases,
        "MlpPolicy": TD3Policy,
    }
    layers = (400, 300)
    layers_of_images = (256, 256)
    shares_extractor = False

    @constructor(
        Argument("learning_rate", change=Rate(("critic", "actor"))),
        *REPLAY,
        Argument("target_noise_clip", needs=Needed("target_policy_noise", "… above 0")),
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
        policy_delay: int = 2,
        target_policy_noise: float = 0.2,
        target_noise_clip: float = 0.5,
        stats_window_size: int = 100,
        tensorboard_log: Folder | None = None,
        policy_kwargs: Keywords | None = None,
        verbose: int = 0,
        seed: int | None = None,
        device: Device = "auto",
        _init_setup_model: bool = True,
    ) -> None: ...
