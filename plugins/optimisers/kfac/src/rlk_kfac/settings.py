"""Settings of K-FAC that an algorithm may have as its own: validators and help texts.

Each constant holds arguments of `attrs.field` besides the default: `kfac_clip: float =
attrs.field(default=0.001, **KFAC_CLIP)`. Imports no torch.
"""

from __future__ import annotations

from attrs import validators as v

from rlk.settings import finite, setting

KFAC_CLIP = setting(
    "size of the trust region: largest squared length of a step, measured by the Fisher matrix",
    v.gt(0.0),
)
KFAC_UPDATE = setting("steps between two decompositions of the factors, at least 1", v.ge(1))
VF_FISHER_COEF = setting(
    "weight c of the value's squared error in K-FAC's likelihood, at least 0; the value's part of "
    "the Fisher matrix is 4 c^2 times that of a Gaussian of variance 1",
    v.and_(v.ge(0.0), finite),
)
ASYNC_EIGEN_DECOMP = setting(
    "decompose the factors in a thread while the run continues; the result is used kfac_update "
    "steps later"
)
