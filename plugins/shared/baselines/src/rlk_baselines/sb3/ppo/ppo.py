"""`PPO`: proximal policy optimisation (Schulman et al. 2017, arXiv 1707.06347)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from rlk_baselines.sb3.algorithm import LAST
from rlk_baselines.sb3.common.on_policy_algorithm import OnPolicyAlgorithm

_DEFAULTS: Mapping[str, Any] = {
    "learning_rate": 0.0003,
    "n_steps": 2048,
    "batch_size": 64,
    "n_epochs": 10,
    "gamma": 0.99,
    "gae_lambda": 0.95,
    "clip_range": 0.2,
    "clip_range_vf": None,
    "normalize_advantage": True,
    "ent_coef": 0.0,
    "vf_coef": 0.5,
    "max_grad_norm": 0.5,
    "use_sde": False,
    "sde_sample_freq": -1,
    "rollout_buffer_class": None,
    "rollout_buffer_kwargs": None,
    "target_kl": None,
    **LAST,
}


class PPO(OnPolicyAlgorithm):
    """Proximal policy optimisation (Schulman et al. 2017, arXiv 1707.06347).

    Its parameters are those of the plugin `ppo`; the README of rlk-ppo describes them.
    """

    algo = "ppo"
    names = tuple(_DEFAULTS)
    usual: ClassVar[Mapping[str, Any]] = _DEFAULTS
    only: ClassVar[Mapping[str, Any]] = {
        "rollout_buffer_class": (None, "rlk.make has storages: storage=NAME."),
        "rollout_buffer_kwargs": (None, "rlk.make has storages: storage={…}."),
    }

    def numbers_of_training(self) -> dict[str, float]:
        """As in `OnPolicyAlgorithm`, and `train/n_updates` in epochs, as in Stable-Baselines3.

        The minibatches of epochs that `target_kl` ended early are counted as parts of epochs.
        """
        run: Any = self.agent.run
        epochs = -(-run.clock.updates // run.algorithm.n_minibatches)
        return {**super().numbers_of_training(), "train/n_updates": epochs}
