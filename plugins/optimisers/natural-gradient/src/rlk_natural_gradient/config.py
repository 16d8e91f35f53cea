"""Settings of the natural gradient: the first three as Stable Baselines 2.10's TRPO names them."""

from __future__ import annotations

import attrs
from attrs import validators as v

from rlk.settings import finite


@attrs.frozen(kw_only=True)
class NaturalGradientConfig:
    """How far a step may go, and how exactly it is computed."""

    max_kl: float = attrs.field(
        default=0.01,
        validator=[v.gt(0.0), finite],
        metadata={"help": "size of the trust region: mean divergence of a full step, in nats"},
    )
    cg_iters: int = attrs.field(
        default=10,
        validator=v.ge(1),
        metadata={"help": "iterations of conjugate gradient, at least 1"},
    )
    cg_damping: float = attrs.field(
        default=0.01,
        validator=[v.ge(0.0), finite],
        metadata={"help": "added to the diagonal of the Fisher matrix, at least 0"},
    )
    line_search_steps: int = attrs.field(
        default=10,
        validator=v.ge(1),
        metadata={"help": "how many lengths of the step are tried, at least 1"},
    )
    line_search_factor: float = attrs.field(
        default=0.5,
        validator=[v.gt(0.0), v.lt(1.0)],
        metadata={"help": "factor by which the step is shortened after each try, between 0 and 1"},
    )
    kl_slack: float = attrs.field(
        default=1.5,
        validator=v.ge(1.0),
        metadata={"help": "a step is taken if its divergence is at most this times max_kl"},
    )
