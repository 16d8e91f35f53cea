"""Settings of the natural gradient: the first three as Stable Baselines 2.10's TRPO names them."""

from __future__ import annotations

import attrs
from attrs import validators as v

from rlk.settings import documented, finite, setting

# Arguments of `attrs.field` besides the default, for algorithms that have these settings too.
MAX_KL = setting(
    "size of the trust region: mean divergence of a full step, in nats", v.and_(v.gt(0.0), finite)
)
CG_ITERS = setting("iterations of conjugate gradient, at least 1", v.ge(1))
CG_DAMPING = setting(
    "added to the diagonal of the Fisher matrix, at least 0", v.and_(v.ge(0.0), finite)
)


@documented
@attrs.frozen(kw_only=True)
class NaturalGradientConfig:
    """How far a step may go, and how exactly it is computed."""

    max_kl: float = attrs.field(default=0.01, **MAX_KL)
    cg_iters: int = attrs.field(default=10, **CG_ITERS)
    cg_damping: float = attrs.field(default=0.01, **CG_DAMPING)
    line_search_steps: int = attrs.field(
        default=10, **setting("how many lengths of the step are tried, at least 1", v.ge(1))
    )
    line_search_factor: float = attrs.field(
        default=0.5,
        **setting(
            "factor by which the step is shortened after each try, between 0 and 1",
            [v.gt(0.0), v.lt(1.0)],
        ),
    )
    kl_slack: float = attrs.field(
        default=1.5,
        **setting("a step is taken if its divergence is at most this times max_kl", v.ge(1.0)),
    )
