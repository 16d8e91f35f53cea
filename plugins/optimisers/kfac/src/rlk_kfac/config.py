"""Settings of K-FAC, with the names of Stable Baselines 2.10's ACKTR and of its optimiser."""

from __future__ import annotations

import attrs

from rlk.settings import above, at_least, below, documented, finite, setting

# Arguments of `attrs.field` besides the default, for algorithms that have these settings too.
KFAC_CLIP = setting(
    "size of the trust region: largest squared length of a step, measured by the Fisher matrix",
    above(0.0),
)
KFAC_UPDATE = setting("steps between two decompositions of the factors, at least 1", at_least(1))
VF_FISHER_COEF = setting(
    "weight c of the value's squared error in K-FAC's likelihood, at least 0; the value's part of "
    "the Fisher matrix is 4 c^2 times that of a Gaussian of variance 1",
    [at_least(0.0), finite],
)
ASYNC_EIGEN_DECOMP = setting(
    "decompose the factors in a thread while the run continues; the result is used kfac_update "
    "steps later"
)


@documented
@attrs.frozen(kw_only=True)
class KfacConfig:
    """How far a step may go, and how the factors are computed."""

    kfac_clip: float = attrs.field(default=0.001, **KFAC_CLIP)
    kfac_update: int = attrs.field(default=1, **KFAC_UPDATE)
    vf_fisher_coef: float = attrs.field(default=1.0, **VF_FISHER_COEF)
    async_eigen_decomp: bool = attrs.field(default=False, **ASYNC_EIGEN_DECOMP)
    momentum: float = attrs.field(
        default=0.9,
        **setting("decay of the running sum of steps, 0 to below 1", [at_least(0.0), below(1.0)]),
    )
    epsilon: float = attrs.field(
        default=0.01,
        **setting(
            "damping, added to the Fisher matrix of every layer, above 0", [above(0.0), finite]
        ),
    )
    stats_decay: float = attrs.field(
        default=0.99,
        **setting(
            "decay of the running means of the factors, 0 to below 1", [at_least(0.0), below(1.0)]
        ),
    )
    cold_iter: int = attrs.field(
        default=10,
        **setting(
            "number of first steps that follow the clipped gradient while factors are gathered",
            at_least(0),
        ),
    )
