"""`TRPO`: trust region policy optimisation (Schulman et al. 2015, arXiv 1502.05477)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, ClassVar

from rlk_baselines.arguments import Argument, Rate
from rlk_sb3.algorithm import LAST, SDE
from rlk_sb3.common.on_policy_algorithm import ROLLOUT_BUFFER, OnPolicyAlgorithm


class TRPO(OnPolicyAlgorithm):
    """Trust region policy optimisation (Schulman et al. 2015, arXiv 1502.05477).

    Its parameters are those of sb3-contrib; it trains with rlk's `trpo`. `learning_rate`,
    `n_critic_updates` and `batch_size` are of the value function.
    """

    algo = "trpo"
    arguments = (
        Argument("learning_rate", 1e-3, rlk="vf_stepsize", change=Rate(("vf",))),
        Argument("n_steps", 2048, is_held=True),
        Argument("batch_size", 128, rlk="vf_batch_size"),
        Argument("gamma", 0.99),
        Argument("cg_max_steps", 15, rlk="cg_iters"),
        Argument("cg_damping", 0.1),
        Argument("line_search_shrinking_factor", 0.8, rlk="natural-gradient.line_search_factor"),
        Argument("line_search_max_iter", 10, rlk="natural-gradient.line_search_steps"),
        Argument("n_critic_updates", 10, rlk="vf_iters"),
        Argument("gae_lambda", 0.95, rlk="lam"),
        *SDE,
        *ROLLOUT_BUFFER,
        Argument("normalize_advantage", True, rlk=None, only="Leave it out."),
        Argument("target_kl", 0.01, rlk="max_kl"),
        Argument(
            "sub_sampling_factor", 1, rlk=None, only="A smaller n_steps makes a step cheaper."
        ),
        *LAST,
    )
    #: There, a step is taken only within the trust region itself, and the value function's Adam
    #: has the epsilon of PPO.
    fixed: ClassVar[Mapping[str, Any]] = {"natural-gradient.kl_slack": 1.0, "adam.eps": 1e-5}

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
