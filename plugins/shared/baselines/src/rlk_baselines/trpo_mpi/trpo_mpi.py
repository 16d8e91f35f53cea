"""`TRPO`: trust region policy optimisation (Schulman et al. 2015, arXiv 1502.05477)."""

from __future__ import annotations

from typing import Any

from rlk_baselines.argument_types import Folder, Keywords, Schedulable
from rlk_baselines.arguments import LAST, Argument, Needed, Rate, constructor
from rlk_baselines.models import SegmentModel

#: What is special about arguments of TRPO.
OF_TRPO = (
    Argument("vf_stepsize", change=Rate(("vf",)), needs=Needed("vf_iters", "… above 0")),
    *LAST,
)


class TRPO(SegmentModel):
    """Trust region policy optimisation (Schulman et al. 2015, arXiv 1502.05477).

    Its parameters are those of the plugin `trpo`; the README of rlk-trpo describes them.
    """

    algo = "trpo"

    @constructor(*OF_TRPO)
    def __init__(
        self,
        policy: str | type[Any],
        env: Any,
        gamma: float = 0.99,
        timesteps_per_batch: int = 1024,
        max_kl: float = 0.01,
        cg_iters: int = 10,
        lam: float = 0.98,
        entcoeff: float = 0.0,
        cg_damping: float = 0.01,
        vf_stepsize: Schedulable = 0.0003,
        vf_iters: int = 3,
        verbose: int = 0,
        tensorboard_log: Folder | None = None,
        _init_setup_model: bool = True,
        policy_kwargs: Keywords | None = None,
        full_tensorboard_log: bool = False,
        seed: int | None = None,
        n_cpu_tf_sess: int | None = 1,
    ) -> None: ...
