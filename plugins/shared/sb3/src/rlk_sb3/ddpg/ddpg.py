"""`DDPG`: deep deterministic policy gradient (Lillicrap et al. 2015, arXiv 1509.02971)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from rlk_baselines.arguments import Argument, Rate
from rlk_sb3.algorithm import LAST
from rlk_sb3.common.off_policy_algorithm import OF_CONTROL, OffPolicyAlgorithm
from rlk_sb3.policy_view import DeterministicView
from rlk_sb3.td3.policies import TD3Policy


class DDPG(OffPolicyAlgorithm):
    """Deep deterministic policy gradient (Lillicrap et al. 2015, arXiv 1509.02971).

    As in Stable-Baselines3, it is TD3 that updates the policy with every batch, and whose targets
    have no noise. It has one critic, unless `policy_kwargs` has `n_critics`.
    """

    algo = "td3"
    viewed = DeterministicView
    policy_aliases: ClassVar[dict[str, Any]] = {
        **OffPolicyAlgorithm.policy_aliases,
        "MlpPolicy": TD3Policy,
    }
    arguments = (
        Argument("learning_rate", 0.001, change=Rate(("critic", "actor"))),
        *OF_CONTROL,
        *LAST,
    )
    layers = (400, 300)
    layers_of_images = (256, 256)
    shares_extractor = False
    fixed: ClassVar[Mapping[str, Any]] = {
        "policy_delay": 1,
        "target_policy_noise": 0.0,
        "n_critics": 1,
    }
