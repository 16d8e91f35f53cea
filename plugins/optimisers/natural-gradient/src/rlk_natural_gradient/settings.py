"""Settings of the natural gradient that an algorithm may have as its own.

Each constant holds arguments of `attrs.field` besides the default: `max_kl: float =
attrs.field(default=0.01, **MAX_KL)`. Imports no torch.
"""

from __future__ import annotations

from attrs import validators as v

from rlk.settings import finite, setting

MAX_KL = setting(
    "size of the trust region: mean divergence of a full step, in nats", v.and_(v.gt(0.0), finite)
)
CG_ITERS = setting("iterations of conjugate gradient, at least 1", v.ge(1))
CG_DAMPING = setting(
    "added to the diagonal of the Fisher matrix, at least 0", v.and_(v.ge(0.0), finite)
)
