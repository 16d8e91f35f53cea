"""Settings of behaviour cloning, with the names and defaults of Stable Baselines 2.10."""

from __future__ import annotations

from typing import Any

import attrs
from attrs import validators as v

from rlk_schedules import ScheduleLike, is_schedule


def _described(text: str, validator: Any) -> dict[str, Any]:
    return {"metadata": {"help": text}, "validator": validator}


def _is_limitation(_: object, attribute: attrs.Attribute[Any], value: int) -> None:
    if value != -1 and value < 1:
        raise ValueError(f"{attribute.name} must be at least 1, or -1 for all, got {value!r}")


@attrs.frozen(kw_only=True)
class ExpertConfig:
    """Whose transitions are learnt from, and how."""

    expert_path: str | None = attrs.field(
        default=None,
        **_described(
            "the file of generate_expert_traj (.npz), or minari:ID",
            v.optional(v.instance_of(str)),
        ),
    )
    traj_limitation: int = attrs.field(
        default=-1,
        **_described("use the first so many trajectories; -1 uses all", _is_limitation),
    )
    train_fraction: float = attrs.field(
        default=0.7,
        **_described(
            "the part that is learnt from, above 0 to 1; the rest validates",
            v.and_(v.gt(0.0), v.le(1.0)),
        ),
    )
    batch_size: int = attrs.field(
        default=64, **_described("transitions in one update, at least 1", v.ge(1))
    )


@attrs.frozen(kw_only=True)
class BCConfig(ExpertConfig):
    """Hyperparameters of `bc`; those of the expert go to `expert-transitions`."""

    learning_rate: ScheduleLike = attrs.field(
        default=1e-4, **_described("step size of Adam; may be scheduled", is_schedule)
    )
    adam_epsilon: float = attrs.field(
        default=1e-8, **_described("added to Adam's denominator, above 0", v.gt(0.0))
    )
