"""`PPO1`: proximal policy optimisation over MPI (Schulman et al. 2017, arXiv 1707.06347)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from rlk_baselines.models import ActorCriticRLModel


class PPO1(ActorCriticRLModel):
    """Proximal policy optimisation over MPI (Schulman et al. 2017, arXiv 1707.06347).

    Its parameters are those of the plugin `ppo1`; the README of rlk-ppo1 describes them.
    """

    algo = "ppo1"
    trains_over_mpi = True
    names = (
        "gamma",
        "timesteps_per_actorbatch",
        "clip_param",
        "entcoeff",
        "optim_epochs",
        "optim_stepsize",
        "optim_batchsize",
        "lam",
        "adam_epsilon",
        "schedule",
        "verbose",
        "tensorboard_log",
        "_init_setup_model",
        "policy_kwargs",
        "full_tensorboard_log",
        "seed",
        "n_cpu_tf_sess",
    )
    usual: ClassVar[Mapping[str, Any]] = {"n_cpu_tf_sess": 1}
    learns_from_vectors = False
    rows_every = 1
