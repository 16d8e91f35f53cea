"""`SAC`: soft actor-critic (Haarnoja et al. 2018, arXiv 1801.01290)."""

from __future__ import annotations

from typing import Any, ClassVar

from torch import Tensor

from rlk_baselines.arguments import Argument, Needed, Rate
from rlk_baselines.sac.sac import IF_LEARNT
from rlk_sb3.algorithm import LAST, SDE
from rlk_sb3.common.off_policy_algorithm import OF_CONTROL, OffPolicyAlgorithm
from rlk_sb3.policy_view import StochasticView
from rlk_sb3.sac.policies import SACPolicy


class SAC(OffPolicyAlgorithm):
    """Soft actor-critic (Haarnoja et al. 2018, arXiv 1801.01290).

    Its parameters are those of Stable-Baselines3; it trains with rlk's `sac`.
    """

    algo = "sac"
    viewed = StochasticView
    policy_aliases: ClassVar[dict[str, Any]] = {
        **OffPolicyAlgorithm.policy_aliases,
        "MlpPolicy": SACPolicy,
    }
    arguments = (
        Argument("learning_rate", 0.0003, change=Rate(("critic", "actor", "entropy"))),
        *OF_CONTROL,
        Argument("ent_coef", "auto"),
        Argument("target_update_interval", 1),
        Argument("target_entropy", "auto", needs=IF_LEARNT),
        *SDE,
        Argument("use_sde_at_warmup", False, needs=Needed("use_sde", "True")),
        *LAST,
    )
    layers = (256, 256)
    layers_of_images = (256, 256)
    shares_extractor = False

    @property
    def target_entropy(self) -> float | str:
        """The entropy that a learnt `ent_coef` aims at; as given if the model is not set up."""
        if self._agent is None:
            return self._given["target_entropy"]
        algorithm: Any = self.agent.run.algorithm
        return float(algorithm.alpha.target_entropy)

    @property
    def log_ent_coef(self) -> Tensor | None:
        """The logarithm of a learnt `ent_coef`, a parameter; None if it is fixed."""
        algorithm: Any = self.agent.run.algorithm
        return algorithm.alpha.log_alpha
