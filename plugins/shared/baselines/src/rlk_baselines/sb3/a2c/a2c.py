"""`A2C`: advantage actor-critic (Mnih et al. 2016, arXiv 1602.01783)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from torch.optim import RMSprop

from rlk_baselines.sb3.algorithm import LAST
from rlk_baselines.sb3.common.on_policy_algorithm import OnPolicyAlgorithm

_DEFAULTS: Mapping[str, Any] = {
    "learning_rate": 0.0007,
    "n_steps": 5,
    "gamma": 0.99,
    "gae_lambda": 1.0,
    "ent_coef": 0.0,
    "vf_coef": 0.5,
    "max_grad_norm": 0.5,
    "rms_prop_eps": 1e-05,
    "use_rms_prop": True,
    "use_sde": False,
    "sde_sample_freq": -1,
    "rollout_buffer_class": None,
    "rollout_buffer_kwargs": None,
    "normalize_advantage": False,
    **LAST,
}


class A2C(OnPolicyAlgorithm):
    """Advantage actor-critic (Mnih et al. 2016, arXiv 1602.01783).

    Its parameters are those of Stable-Baselines3; it trains with rlk's `a2c`.
    """

    algo = "a2c"
    names = tuple(_DEFAULTS)
    usual: ClassVar[Mapping[str, Any]] = _DEFAULTS
    rows = 100
    fixed: ClassVar[Mapping[str, Any]] = {"rmsprop.variant": "torch"}
    renames: ClassVar[Mapping[str, str]] = {"rms_prop_eps": "epsilon"}
    only: ClassVar[Mapping[str, Any]] = {
        "gae_lambda": (1.0, "PPO has it."),
        "use_rms_prop": (True, "For Adam write rlk.make('a2c', …, optimiser='adam')."),
        "normalize_advantage": (False, "PPO has it."),
        "rollout_buffer_class": (None, "rlk.make has storages: storage=NAME."),
        "rollout_buffer_kwargs": (None, "rlk.make has storages: storage={…}."),
    }

    def _optimizer(self) -> tuple[type, float]:
        return RMSprop, self._given["rms_prop_eps"]

    def translated(self, settings: dict[str, Any]) -> dict[str, Any]:
        """As in `BaseAlgorithm`; in rlk, state-dependent exploration is a distribution."""
        use_sde = settings.pop("use_sde", False)
        sample_freq = settings.pop("sde_sample_freq", -1)
        own = {"distribution": "gsde", "gsde.sample_freq": sample_freq} if use_sde else {}
        return {**super().translated(settings), **own}
