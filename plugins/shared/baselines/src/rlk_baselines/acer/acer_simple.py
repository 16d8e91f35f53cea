"""`ACER`: actor-critic with experience replay (Wang et al. 2016, arXiv 1611.01224)."""

from __future__ import annotations

from typing import Any

from rlk_baselines.argument_types import Folder, Keywords, Schedulable
from rlk_baselines.arguments import LAST, Argument, Needed, Rate, constructor
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

    @constructor(
        Argument("num_procs", rlk="n_threads", deprecated_for="n_cpu_tf_sess"),
        Argument("learning_rate", change=Rate(("policy",))),
        Argument("buffer_size", needs=_REPLAY),
        Argument("replay_start", needs=_REPLAY),
        Argument("alpha", needs=_TRUST_REGION),
        Argument("delta", needs=_TRUST_REGION),
        *LAST,
    )
    def __init__(
        self,
        policy: str | type[Any],
        env: Any,
        gamma: float = 0.99,
        n_steps: int = 20,
        num_procs: int | None = None,
        q_coef: float = 0.5,
        ent_coef: float = 0.01,
        max_grad_norm: float | None = 10.0,
        learning_rate: Schedulable = 0.0007,
        lr_schedule: str = "linear",
        rprop_alpha: float = 0.99,
        rprop_epsilon: float = 1e-5,
        buffer_size: int = 5000,
        replay_ratio: float = 4.0,
        replay_start: int = 1000,
        correction_term: float = 10.0,
        trust_region: bool = True,
        alpha: float = 0.99,
        delta: float = 1.0,
        verbose: int = 0,
        tensorboard_log: Folder | None = None,
        _init_setup_model: bool = True,
        policy_kwargs: Keywords | None = None,
        full_tensorboard_log: bool = False,
        seed: int | None = None,
        n_cpu_tf_sess: int | None = 1,
    ) -> None: ...


def __getattr__(name: str) -> Any:
    raise not_here(__name__, name, _INSTEAD)
