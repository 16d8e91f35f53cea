"""`TRPO`: trust region policy optimisation (Schulman et al. 2015, arXiv 1502.05477)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, ClassVar

from rlk_baselines.sb3.algorithm import LAST
from rlk_baselines.sb3.common.on_policy_algorithm import OnPolicyAlgorithm

_DEFAULTS: Mapping[str, Any] = {
    "learning_rate": 1e-3,
    "n_steps": 2048,
    "batch_size": 128,
    "gamma": 0.99,
    "cg_max_steps": 15,
    "cg_damping": 0.1,
    "line_search_shrinking_factor": 0.8,
    "line_search_max_iter": 10,
    "n_critic_updates": 10,
    "gae_lambda": 0.95,
    "use_sde": False,
    "sde_sample_freq": -1,
    "rollout_buffer_class": None,
    "rollout_buffer_kwargs": None,
    "normalize_advantage": True,
    "target_kl": 0.01,
    "sub_sampling_factor": 1,
    **LAST,
}


class TRPO(OnPolicyAlgorithm):
    """Trust region policy optimisation (Schulman et al. 2015, arXiv 1502.05477).

    Its parameters are those of sb3-contrib; it trains with rlk's `trpo`. `learning_rate`,
    `n_critic_updates` and `batch_size` are of the value function.
    """

    algo = "trpo"
    names = tuple(_DEFAULTS)
    usual: ClassVar[Mapping[str, Any]] = _DEFAULTS
    #: There, a step is taken only within the trust region itself, and the value function's Adam
    #: has the epsilon of PPO.
    fixed: ClassVar[Mapping[str, Any]] = {"natural-gradient.kl_slack": 1.0, "adam.eps": 1e-5}
    renames: ClassVar[Mapping[str, str]] = {
        "learning_rate": "vf_stepsize",
        "batch_size": "vf_batch_size",
        "cg_max_steps": "cg_iters",
        "line_search_shrinking_factor": "natural-gradient.line_search_factor",
        "line_search_max_iter": "natural-gradient.line_search_steps",
        "n_critic_updates": "vf_iters",
        "gae_lambda": "lam",
        "target_kl": "max_kl",
    }
    only: ClassVar[Mapping[str, Any]] = {
        "normalize_advantage": (True, "Leave it out."),
        "sub_sampling_factor": (1, "A smaller n_steps makes a step cheaper."),
        **OnPolicyAlgorithm.only,
    }

    def translated(self, settings: dict[str, Any]) -> dict[str, Any]:
        """As in `BaseAlgorithm`; rlk's collections are counted over all environments."""
        own: dict[str, Any] = {}
        if "n_steps" in settings:
            own["timesteps_per_batch"] = int(settings.pop("n_steps")) * (self.n_envs or 1)
        sample_freq = settings.pop("sde_sample_freq", -1)
        if settings.pop("use_sde", False):
            own |= {"distribution": "gsde", "gsde.sample_freq": sample_freq}
        return {**super().translated(settings), **own}

    def _changes(self, names: Iterable[str]) -> dict[str, Any]:
        """As in `Constructed`; the number of environments may have changed."""
        return super()._changes({*names, "n_steps"})
