"""`TRPO`: trust region policy optimisation (Schulman et al. 2015, arXiv 1502.05477)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from rlk_baselines.models import ActorCriticRLModel


class TRPO(ActorCriticRLModel):
    """Trust region policy optimisation (Schulman et al. 2015, arXiv 1502.05477).

    Its parameters are those of the plugin `trpo`; the README of rlk-trpo describes them.
    """

    algo = "trpo"
    trains_over_mpi = True
    names = (
        "gamma",
        "timesteps_per_batch",
        "max_kl",
        "cg_iters",
        "lam",
        "entcoeff",
        "cg_damping",
        "vf_stepsize",
        "vf_iters",
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
