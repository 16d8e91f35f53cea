"""Settings of K-FAC, with the names of Stable Baselines 2.10's ACKTR and of its optimiser."""

from __future__ import annotations

import attrs
from attrs import validators as v

from rlk.settings import finite


@attrs.frozen(kw_only=True)
class KfacConfig:
    """How far a step may go, and how the factors are computed."""

    kfac_clip: float = attrs.field(
        default=0.001,
        validator=v.gt(0.0),
        metadata={"help": "largest squared length of a step, measured by the Fisher matrix"},
    )
    kfac_update: int = attrs.field(
        default=1,
        validator=v.ge(1),
        metadata={"help": "steps between two decompositions of the factors, at least 1"},
    )
    vf_fisher_coef: float = attrs.field(
        default=1.0,
        validator=[v.ge(0.0), finite],
        metadata={"help": "weight of the value in the Fisher matrix, at least 0"},
    )
    async_eigen_decomp: bool = attrs.field(
        default=False,
        metadata={
            "help": "decompose in a thread while the run continues; the result is used "
            "kfac_update steps later"
        },
    )
    momentum: float = attrs.field(
        default=0.9,
        validator=[v.ge(0.0), v.lt(1.0)],
        metadata={"help": "decay of the running sum of steps, 0 to below 1"},
    )
    epsilon: float = attrs.field(
        default=0.01,
        validator=[v.gt(0.0), finite],
        metadata={"help": "damping, added to the Fisher matrix of every layer, above 0"},
    )
    stats_decay: float = attrs.field(
        default=0.99,
        validator=[v.ge(0.0), v.lt(1.0)],
        metadata={"help": "decay of the running means of the factors, 0 to below 1"},
    )
    cold_iter: int = attrs.field(
        default=10,
        validator=v.ge(0),
        metadata={
            "help": "number of first steps that follow the clipped gradient while factors are "
            "gathered"
        },
    )
