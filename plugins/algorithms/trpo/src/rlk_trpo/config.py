"""TRPO's hyperparameters, with the names and defaults of Stable Baselines 2.10."""

from __future__ import annotations

from collections.abc import Callable

import attrs
from attrs import validators as v

from rlk_schedules import is_schedule


@attrs.frozen(kw_only=True)
class TRPOConfig:
    """Hyperparameters of TRPO. `max_kl`, `cg_iters`, `cg_damping` go to `natural-gradient`."""

    gamma: float = attrs.field(
        default=0.99,
        validator=[v.ge(0.0), v.le(1.0)],
        metadata={"help": "discount per step, 0 to 1"},
    )
    timesteps_per_batch: int = attrs.field(
        default=1024,
        validator=v.ge(1),
        metadata={"help": "timesteps in one collection, over all environments of this process"},
    )
    max_kl: float = attrs.field(
        default=0.01,
        validator=v.gt(0.0),
        metadata={"help": "size of the trust region: mean divergence of a full step, in nats"},
    )
    cg_iters: int = attrs.field(
        default=10,
        validator=v.ge(1),
        metadata={"help": "iterations of conjugate gradient, at least 1"},
    )
    lam: float = attrs.field(
        default=0.98,
        validator=[v.ge(0.0), v.le(1.0)],
        metadata={"help": "bias against variance in generalised advantage estimation, 0 to 1"},
    )
    entcoeff: float = attrs.field(
        default=0.0,
        validator=v.ge(0.0),
        metadata={"help": "weight of the entropy bonus, at least 0"},
    )
    cg_damping: float = attrs.field(
        default=0.01,
        validator=v.ge(0.0),
        metadata={"help": "added to the diagonal of the Fisher matrix, at least 0"},
    )
    vf_stepsize: float | str | Callable[[float], float] = attrs.field(
        default=0.0003,
        validator=is_schedule,
        metadata={"help": "step size of the value function's Adam; may be scheduled"},
    )
    vf_iters: int = attrs.field(
        default=3,
        validator=v.ge(0),
        metadata={"help": "epochs of the value function over each collection, at least 0"},
    )
