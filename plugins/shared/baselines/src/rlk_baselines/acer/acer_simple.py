"""`ACER`: actor-critic with experience replay (Wang et al. 2016, arXiv 1611.01224)."""

from __future__ import annotations

from rlk_baselines.arguments import LAST_OF_ONE_THREAD, Argument, Needed, Rate
from rlk_baselines.models import ActorCriticRLModel

_TRUST_REGION = Needed("trust_region", "True")
_REPLAY = Needed("replay_ratio", "… above 0")


class ACER(ActorCriticRLModel):
    """Actor-critic with experience replay (Wang et al. 2016, arXiv 1611.01224).

    Its parameters are those of the plugin `acer`; the README of rlk-acer describes them.
    """

    algo = "acer"
    arguments = (
        Argument("gamma"),
        Argument("n_steps"),
        Argument("num_procs", None, rlk="n_threads", deprecated_for="n_cpu_tf_sess"),
        Argument("q_coef"),
        Argument("ent_coef"),
        Argument("max_grad_norm"),
        Argument("learning_rate", change=Rate(("policy",))),
        Argument("lr_schedule"),
        Argument("rprop_alpha"),
        Argument("rprop_epsilon"),
        Argument("buffer_size", needs=_REPLAY),
        Argument("replay_ratio"),
        Argument("replay_start", needs=_REPLAY),
        Argument("correction_term"),
        Argument("trust_region"),
        Argument("alpha", needs=_TRUST_REGION),
        Argument("delta", needs=_TRUST_REGION),
        *LAST_OF_ONE_THREAD,
    )
