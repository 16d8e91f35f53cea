"""`ACER`: actor-critic with experience replay (Wang et al. 2016, arXiv 1611.01224)."""

from __future__ import annotations

from typing import Any

from rlk_baselines.arguments import LAST_OF_ONE_THREAD, Argument, Needed, Rate
from rlk_baselines.callback_variables.collection import CollectionOfACER
from rlk_baselines.models import ActorCriticRLModel
from rlk_baselines.refusals import not_here

#: The names of other parts of this module in Stable Baselines, and what to use instead.
_INSTEAD = {
    "EpisodeStats": "model.ep_info_buf, which has the returns and lengths of the latest episodes",
    "get_by_index": "values.gather(1, index[:, None])[:, 0], with tensors of torch",
}
_TRUST_REGION = Needed("trust_region", "True")
_REPLAY = Needed("replay_ratio", "… above 0")


class ACER(ActorCriticRLModel):
    """Actor-critic with experience replay (Wang et al. 2016, arXiv 1611.01224).

    Its parameters are those of the plugin `acer`; the README of rlk-acer describes them.
    """

    algo = "acer"
    collected = CollectionOfACER
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


def __getattr__(name: str) -> Any:
    raise not_here(__name__, name, _INSTEAD)
