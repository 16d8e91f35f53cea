"""Settings of learnt rewards, with the names and defaults of Stable Baselines 2.10's GAIL."""

from __future__ import annotations

from typing import Any

import attrs
from attrs import validators as v


def _described(text: str, validator: Any) -> dict[str, Any]:
    return {"metadata": {"help": text}, "validator": validator}


def _is_limitation(_: object, attribute: attrs.Attribute[Any], value: int) -> None:
    if value != -1 and value < 1:
        raise ValueError(f"{attribute.name} must be at least 1, or -1 for all, got {value!r}")


@attrs.frozen(kw_only=True)
class GAILConfig:
    """Whose behaviour is imitated, and how the discriminator learns."""

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
    g_step: int = attrs.field(
        default=3,
        **_described("collections of the policy for one training of the discriminator", v.ge(1)),
    )
    d_step: int = attrs.field(
        default=1,
        **_described("batches that a collection is divided into for such a training", v.ge(1)),
    )
    d_stepsize: float = attrs.field(
        default=3e-4, **_described("step size of the discriminator's Adam, above 0", v.gt(0.0))
    )
    adversary_entcoeff: float = attrs.field(
        default=1e-3, **_described("weight of the discriminator's entropy, at least 0", v.ge(0.0))
    )
    hidden_size_adversary: int = attrs.field(
        default=100, **_described("units in each of its two hidden layers, at least 1", v.ge(1))
    )


@attrs.frozen(kw_only=True)
class AIRLConfig(GAILConfig):
    """The same for AIRL."""

    state_only: bool = attrs.field(
        default=False,
        **_described(
            "whether the reward is a function of the observation alone, which carries over to "
            "other dynamics",
            v.instance_of(bool),
        ),
    )
