"""Settings of the natural gradient: the first three as Stable Baselines 2.10's TRPO names them."""

from __future__ import annotations

import attrs

from rlk.settings import above, at_least, below, documented, finite, setting

# Arguments of `attrs.field` besides the default, for algorithms that have these settings too.
MAX_KL = setting(
    "size of the trust region: mean divergence of a full step, in nats", [above(0.0), finite]
)
CG_ITERS = setting("iterations of conjugate gradient, at least 1", at_least(1))
CG_DAMPING = setting(
    "added to the diagonal of the Fisher matrix, at least 0", [at_least(0.0), finite]
)


@documented
@attrs.frozen(kw_only=True)
class NaturalGradientConfig:
    """How far a step may go, and how exactly it is computed."""

    max_kl: float = attrs.field(default=0.01, **MAX_KL)
    cg_iters: int = attrs.field(default=10, **CG_ITERS)
    cg_damping: float = attrs.field(default=0.01, **CG_DAMPING)
    line_search_steps: int = attrs.field(
        default=10, **setting("how many lengths of the step are tried, at least 1", at_least(1))
    )
    line_search_factor: float = attrs.field(
        default=0.5,
        **setting(
            "factor by which the step is shortened after each try, between 0 and 1",
            [above(0.0), below(1.0)],
        ),
    )
    kl_slack: float = attrs.field(
        default=1.5,
        **setting("a step is taken if its divergence is at most this times max_kl", at_least(1.0)),
    )
