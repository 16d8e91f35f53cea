"""`SAC`: soft actor-critic (Haarnoja et al. 2018, arXiv 1801.01290)."""

from __future__ import annotations

from typing import Any

from rlk_baselines.argument_types import Folder, Keywords, Schedulable, TrainFreq
from rlk_baselines.arguments import LAST, Argument, Needed, Rate, constructor
from rlk_baselines.models import OffPolicyRLModel


def _is_learnt(ent_coef: Any) -> bool:
    return isinstance(ent_coef, str) and ent_coef.startswith("auto")


IF_LEARNT = Needed("ent_coef", "'auto'", _is_learnt)


class SAC(OffPolicyRLModel):
    """Soft actor-critic (Haarnoja et al. 2018, arXiv 1801.01290).

    Its parameters are those of the plugin `sac`; the README of rlk-sac describes them.
    """

    algo = "sac"
    rows = 4
    has_cnns_apart = True

    @constructor(
        Argument("learning_rate", change=Rate(("critic", "actor", "entropy"))),
        Argument("target_entropy", needs=IF_LEARNT),
        *LAST,
    )
    def __init__(
        self,
        policy: str | type[Any],
        env: Any,
        gamma: float = 0.99,
        learning_rate: Schedulable = 0.0003,
        buffer_size: int = 50_000,
        learning_starts: int = 100,
        train_freq: TrainFreq = 1,
        batch_size: int = 64,
        tau: float = 0.005,
        ent_coef: float | str = "auto",
        target_update_interval: int = 1,
        gradient_steps: int = 1,
        target_entropy: float | str = "auto",
        action_noise: Any = None,
        random_exploration: float = 0.0,
        verbose: int = 0,
        tensorboard_log: Folder | None = None,
        _init_setup_model: bool = True,
        policy_kwargs: Keywords | None = None,
        full_tensorboard_log: bool = False,
        seed: int | None = None,
        n_cpu_tf_sess: int | None = None,
    ) -> None: ...
