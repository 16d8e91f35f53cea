"""`PPO1`: proximal policy optimisation over MPI (Schulman et al. 2017, arXiv 1707.06347)."""

from __future__ import annotations

from typing import Any

from rlk_baselines.argument_types import Folder, Keywords, Schedulable
from rlk_baselines.arguments import LAST, Argument, Rate, Scheduled, constructor
from rlk_baselines.models import SegmentModel


class PPO1(SegmentModel):
    """Proximal policy optimisation over MPI (Schulman et al. 2017, arXiv 1707.06347).

    Its parameters are those of the plugin `ppo1`; the README of rlk-ppo1 describes them.
    """

    algo = "ppo1"

    @constructor(
        Argument("clip_param", change=Scheduled("clip_range")),
        Argument("optim_stepsize", change=Rate(("policy",))),
        *LAST,
    )
    def __init__(
        self,
        policy: str | type[Any],
        env: Any,
        gamma: float = 0.99,
        timesteps_per_actorbatch: int = 256,
        clip_param: Schedulable = 0.2,
        entcoeff: float = 0.01,
        optim_epochs: int = 4,
        optim_stepsize: Schedulable = 0.001,
        optim_batchsize: int = 64,
        lam: float = 0.95,
        adam_epsilon: float = 1e-5,
        schedule: str = "linear",
        verbose: int = 0,
        tensorboard_log: Folder | None = None,
        _init_setup_model: bool = True,
        policy_kwargs: Keywords | None = None,
        full_tensorboard_log: bool = False,
        seed: int | None = None,
        n_cpu_tf_sess: int | None = 1,
    ) -> None: ...
