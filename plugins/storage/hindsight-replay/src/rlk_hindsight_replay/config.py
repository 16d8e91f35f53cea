"""Settings of hindsight replay, with the names and defaults of Stable Baselines' `HER`."""

from __future__ import annotations

from typing import Literal, get_args

import attrs
from attrs import validators as v

from rlk.settings import at_least, documented, setting

Strategy = Literal["future", "final", "episode", "random"]


@documented
@attrs.frozen(kw_only=True)
class HindsightReplayConfig:
    """How many goals a transition gets in hindsight, and which."""

    n_sampled_goal: int = attrs.field(
        default=4,
        **setting(
            "hindsight goals for every real one (1 or more)", [v.instance_of(int), at_least(1)]
        ),
    )
    goal_selection_strategy: Strategy = attrs.field(
        default="future",
        **setting(
            "hindsight goals are goals that were reached later in the episode "
            "(future), at its end (final), anywhere in it (episode), or in any "
            "episode (random)",
            v.in_(get_args(Strategy)),
        ),
    )
    online_sampling: bool | None = attrs.field(
        default=None,
        **setting(
            "whether a transition gets another goal each time it is sampled (true), or one "
            "of k goals that are drawn once, when its episode has ended (false); none means false "
            "with prioritized replay, where goals must stay the same, and else true"
        ),
    )
    info_keys: list[str] = attrs.field(
        factory=list,
        **setting(
            "infos (numbers) that the environment's compute_reward or compute_terminated reads; "
            "of a step without one, they get none"
        ),
    )
