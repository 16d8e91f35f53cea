"""`TRPO`: trust region policy optimisation (Schulman et al. 2015, arXiv 1502.05477)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, ClassVar

from rlk_baselines.argument_types import Folder, Keywords, Schedulable
from rlk_baselines.arguments import Argument, Rate, constructor
from rlk_sb3.algorithm import LAST, SDE, Device
from rlk_sb3.common.on_policy_algorithm import ROLLOUT_BUFFER, OnPolicyAlgorithm


class TRPO(OnPolicyAlgorithm):
    """Trust region policy optimisation (Schulman et al. 2015, arXiv 1502.05477).

    Its parameters are those of sb3-contrib; it trains with rlk's `trpo`. `learning_rate`,
    `n_critic_updates` and `batch_size` are of the value function.
    """

    algo = "trpo"
    #: There, a step is taken only within the trust region itself, and the value function's Adam
    #: has the epsilon of PPO.
    fixed: ClassVar[Mapping[str, Any]] = {"natural-gradient.kl_slack": 1.0, "adam.eps": 1e-5}

    @constructor(
        Argument("learning_rate", rlk="vf_stepsize", change=Rate(("vf",))),
        Argument("n_steps", is_held=True),
        Argument("batch_size", rlk="vf_batch_size"),
        Argument("cg_max_steps", rlk="cg_iters"),
        Argument("line_search_shrinking_factor", rlk="natural-gradient.line_search_factor"),
        Argument("line_search_max_iter", rlk="natural-gradient.line_search_steps"),
        Argument("n_critic_updates", rlk="vf_iters"),
        Argument("gae_lambda", rlk="lam"),
        *SDE,
        *ROLLOUT_BUFFER,
        Argument("normalize_advantage", rlk=None, only="Leave it out."),
        Argument("target_kl", rlk="max_kl"),
        Argument("sub_sampling_factor", rlk=None, only="A smaller n_steps makes a step cheaper."),
        *LAST,
    )
    def __init__(
        self,
        policy: str | type[Any],
        env: Any,
        learning_rate: Schedulable = 0.001,
        n_steps: int = 2048,
        batch_size: int = 128,
        gamma: float = 0.99,
        cg_max_steps: int = 15,
        cg_damping: float = 0.1,
        line_search_shrinking_factor: float = 0.8,
        line_search_max_iter: int = 10,
        n_critic_updates: int = 10,
        gae_lambda: float = 0.95,
        use_sde: bool = False,
        sde_sample_freq: int = -1,
        rollout_buffer_class: None = None,
        rollout_buffer_kwargs: None = None,
        normalize_advantage: bool = True,
        target_kl: float = 0.01,
        sub_sampling_factor: int = 1,
        stats_window_size: int = 100,
        tensorboard_log: Folder | None = None,
        policy_kwargs: Keywords | None = None,
        verbose: int = 0,
        seed: int | None = None,
        device: Device = "auto",
        _init_setup_model: bool = True,
    ) -> None: ...

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
