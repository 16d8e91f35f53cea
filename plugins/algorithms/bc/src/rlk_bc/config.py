"""Settings of behaviour cloning, with the names and defaults of Stable Baselines 2.10."""

from __future__ import annotations

import attrs

from rlk.settings import above, at_least, at_most, documented, finite, setting
from rlk_expert_data.settings import EXPERT_PATH, TRAJ_LIMITATION
from rlk_schedules import ScheduleLike, is_schedule


@documented
@attrs.frozen(kw_only=True)
class ExpertConfig:
    """Which expert's transitions to learn from, and how."""

    expert_path: str | None = attrs.field(default=None, **EXPERT_PATH)
    traj_limitation: int = attrs.field(default=-1, **TRAJ_LIMITATION)
    train_fraction: float = attrs.field(
        default=0.7,
        **setting(
            "fraction of the data for training, above 0 to 1; the rest is for validation",
            [above(0.0), at_most(1.0)],
        ),
    )
    batch_size: int = attrs.field(
        default=64, **setting("transitions in one update, at least 1", at_least(1))
    )


@documented
@attrs.frozen(kw_only=True)
class BCConfig(ExpertConfig):
    """Hyperparameters of `bc`; those of the expert go to `expert-transitions`."""

    learning_rate: ScheduleLike = attrs.field(
        default=1e-4, **setting("step size of Adam; may be scheduled", is_schedule)
    )
    adam_epsilon: float = attrs.field(
        default=1e-8, **setting("added to Adam's denominator, above 0", [above(0.0), finite])
    )
