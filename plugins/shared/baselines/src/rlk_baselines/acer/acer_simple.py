"""`ACER`: actor-critic with experience replay (Wang et al. 2016, arXiv 1611.01224)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from rlk_baselines.arguments import replaced
from rlk_baselines.models import ActorCriticRLModel


class ACER(ActorCriticRLModel):
    """Actor-critic with experience replay (Wang et al. 2016, arXiv 1611.01224).

    Its parameters are those of the plugin `acer`; the README of rlk-acer describes them.
    """

    algo = "acer"
    names = (
        "gamma",
        "n_steps",
        "num_procs",
        "q_coef",
        "ent_coef",
        "max_grad_norm",
        "learning_rate",
        "lr_schedule",
        "rprop_alpha",
        "rprop_epsilon",
        "buffer_size",
        "replay_ratio",
        "replay_start",
        "correction_term",
        "trust_region",
        "alpha",
        "delta",
        "verbose",
        "tensorboard_log",
        "_init_setup_model",
        "policy_kwargs",
        "full_tensorboard_log",
        "seed",
        "n_cpu_tf_sess",
    )
    usual: ClassVar[Mapping[str, Any]] = {"num_procs": None, "n_cpu_tf_sess": 1}

    def translated(self, settings: dict[str, Any]) -> dict[str, Any]:
        replaced(settings, "num_procs", "n_cpu_tf_sess")
        return settings
