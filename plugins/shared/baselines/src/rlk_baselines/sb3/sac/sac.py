"""`SAC`: soft actor-critic (Haarnoja et al. 2018, arXiv 1801.01290)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from torch import Tensor

from rlk_baselines.sb3.algorithm import LAST
from rlk_baselines.sb3.common.off_policy_algorithm import REPLAY_DEFAULTS, OffPolicyAlgorithm
from rlk_baselines.sb3.policy_view import StochasticView
from rlk_baselines.sb3.sac.policies import SACPolicy

_DEFAULTS: Mapping[str, Any] = {
    "learning_rate": 0.0003,
    **REPLAY_DEFAULTS,
    "ent_coef": "auto",
    "target_update_interval": 1,
    "target_entropy": "auto",
    "use_sde": False,
    "sde_sample_freq": -1,
    "use_sde_at_warmup": False,
    **LAST,
}


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
    names = tuple(_DEFAULTS)
    usual: ClassVar[Mapping[str, Any]] = _DEFAULTS
    layers = (256, 256)
    layers_of_images = (256, 256)
    shares_extractor = False

    @property
    def target_entropy(self) -> float | str:
        """The entropy that a learnt `ent_coef` aims at; as given if the model is not set up."""
        if self._agent is None:
            given: float | str = self._given["target_entropy"]
            return given
        algorithm: Any = self.agent.run.algorithm
        return float(algorithm.alpha.target_entropy)

    @property
    def log_ent_coef(self) -> Tensor | None:
        """The logarithm of a learnt `ent_coef`, a parameter; None if it is fixed."""
        algorithm: Any = self.agent.run.algorithm
        learnt: Tensor | None = algorithm.alpha.log_alpha
        return learnt
