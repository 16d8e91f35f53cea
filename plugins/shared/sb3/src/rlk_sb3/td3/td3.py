"""`TD3`: twin delayed DDPG (Fujimoto et al. 2018, arXiv 1802.09477)."""

from __future__ import annotations

from typing import Any, ClassVar

from rlk_baselines.arguments import Argument, Needed, Rate
from rlk_sb3.algorithm import LAST
from rlk_sb3.common.off_policy_algorithm import OF_CONTROL, OffPolicyAlgorithm
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
    arguments: ClassVar[tuple[Argument, ...]] = (
        Argument("learning_rate", 0.001, change=Rate(("critic", "actor"))),
        *OF_CONTROL,
        Argument("policy_delay", 2),
        Argument("target_policy_noise", 0.2),
        Argument("target_noise_clip", 0.5, needs=Needed("target_policy_noise", "… above 0")),
        *LAST,
    )
    layers = (400, 300)
    layers_of_images = (256, 256)
    shares_extractor = False
