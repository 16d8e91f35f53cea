"""`DDPG`: deep deterministic policy gradient (Lillicrap et al. 2015, arXiv 1509.02971)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from rlk_baselines.arguments import Argument, Rate
from rlk_sb3.algorithm import LAST
from rlk_sb3.common.off_policy_algorithm import OF_CONTROL
from rlk_sb3.td3.td3 import TD3


class DDPG(TD3):
    """Deep deterministic policy gradient (Lillicrap et al. 2015, arXiv 1509.02971).

    As in Stable-Baselines3, it is TD3 that updates the policy with every batch, and whose targets
    have no noise. It has one critic, unless `policy_kwargs` has `n_critics`.
    """

    algo = "td3"
    arguments = (
        Argument("learning_rate", 0.001, change=Rate(("critic", "actor"))),
        *OF_CONTROL,
        *LAST,
    )
    fixed: ClassVar[Mapping[str, Any]] = {
        "policy_delay": 1,
        "target_policy_noise": 0.0,
        "n_critics": 1,
    }
