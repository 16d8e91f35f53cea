"""`SAC`: soft actor-critic (Haarnoja et al. 2018, arXiv 1801.01290)."""

from __future__ import annotations

from typing import Any, ClassVar

from torch import Tensor

from rlk_baselines.argument_types import Folder, Keywords, Schedulable, TrainFreq
from rlk_baselines.arguments import Argument, Needed, Rate, constructor
from rlk_baselines.sac.sac import IF_LEARNT
from rlk_sb3.algorithm import LAST, SDE, Device
from rlk_sb3.common.off_policy_algorithm import REPLAY, OffPolicyAlgorithm
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
    layers = (256, 256)
    layers_of_images = (256, 256)
    shares_extractor = False

    @constructor(
        Argument("learning_rate", change=Rate(("critic", "actor", "entropy"))),
        *REPLAY,
        Argument("target_entropy", needs=IF_LEARNT),
        *SDE,
        Argument("use_sde_at_warmup", needs=Needed("use_sde", "True")),
        *LAST,
    )
    def __init__(
        self,
        policy: str | type[Any],
        env: Any,
        learning_rate: Schedulable = 0.0003,
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
        ent_coef: float | str = "auto",
        target_update_interval: int = 1,
        target_entropy: float | str = "auto",
        use_sde: bool = False,
        sde_sample_freq: int = -1,
        use_sde_at_warmup: bool = False,
        stats_window_size: int = 100,
        tensorboard_log: Folder | None = None,
        policy_kwargs: Keywords | None = None,
        verbose: int = 0,
        seed: int | None = None,
        device: Device = "auto",
        _init_setup_model: bool = True,
    ) -> None: ...

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
