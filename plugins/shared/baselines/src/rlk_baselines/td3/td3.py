"""`TD3`: twin delayed DDPG (Fujimoto et al. 2018, arXiv 1802.09477)."""

from __future__ import annotations

from rlk_baselines.arguments import LAST, Argument, Needed, Rate
from rlk_baselines.models import DeterministicModel


class TD3(DeterministicModel):
    """Twin delayed DDPG (Fujimoto et al. 2018, arXiv 1802.09477).

    Its parameters are those of the plugin `td3`; the README of rlk-td3 describes them.
    """

    algo = "td3"
    rows = 4
    has_cnns_apart = True
    arguments = (
        Argument("gamma"),
        Argument("learning_rate", change=Rate(("critic", "actor"))),
        Argument("buffer_size"),
        Argument("learning_starts"),
        Argument("train_freq"),
        Argument("gradient_steps"),
        Argument("batch_size"),
        Argument("tau"),
        Argument("policy_delay"),
        Argument("action_noise"),
        Argument("target_policy_noise"),
        Argument("target_noise_clip", needs=Needed("target_policy_noise", "… above 0")),
        Argument("random_exploration"),
        *LAST,
    )
