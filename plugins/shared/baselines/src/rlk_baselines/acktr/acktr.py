"""`ACKTR`: actor-critic with K-FAC and a trust region (Wu et al. 2017, arXiv 1708.05144)."""

from __future__ import annotations

from typing import Any

from rlk_baselines.argument_types import Folder, Keywords, Schedulable
from rlk_baselines.arguments import LAST, Argument, Rate, constructor
from rlk_baselines.models import ActorCriticRLModel


class ACKTR(ActorCriticRLModel):
    """Actor-critic with K-FAC and a trust region (Wu et al. 2017, arXiv 1708.05144).

    Its parameters are those of the plugin `acktr`; the README of rlk-acktr describes them.
    """

    algo = "acktr"

    @constructor(
        Argument("nprocs", rlk="n_threads", deprecated_for="n_cpu_tf_sess"),
        Argument("learning_rate", change=Rate(("policy",))),
        *LAST,
    )
    def __init__(
        self,
        policy: str | type[Any],
        env: Any,
        gamma: float = 0.99,
        nprocs: int | None = None,
        n_steps: int = 20,
        ent_coef: float = 0.01,
        vf_coef: float = 0.25,
        vf_fisher_coef: float = 1.0,
        learning_rate: Schedulable = 0.25,
        max_grad_norm: float | None = 0.5,
        kfac_clip: float = 0.001,
        lr_schedule: str = "linear",
        verbose: int = 0,
        tensorboard_log: Folder | None = None,
        _init_setup_model: bool = True,
        async_eigen_decomp: bool = False,
        kfac_update: int = 1,
        gae_lambda: float | None = None,
        policy_kwargs: Keywords | None = None,
        full_tensorboard_log: bool = False,
        seed: int | None = None,
        n_cpu_tf_sess: int | None = 1,
    ) -> None: ...
