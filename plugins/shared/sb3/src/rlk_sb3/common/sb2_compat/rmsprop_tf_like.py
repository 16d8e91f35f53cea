"""`RMSpropTFLike`: the RMSProp of Stable Baselines 2.10, for A2C."""

from __future__ import annotations

from typing import Any

from rlk_baselines.refusals import Refused


class RMSpropTFLike:
    """Stands for rlk's `rmsprop`, with TensorFlow's formula, in `policy_kwargs` of A2C.

    `A2C(…, policy_kwargs=dict(optimizer_class=RMSpropTFLike, optimizer_kwargs=dict(eps=1e-5)))`.
    """

    def __init__(self, *_: Any, **__: Any) -> None:
        raise Refused(
            "RMSpropTFLike only stands for rlk's optimiser rmsprop in policy_kwargs of A2C. Write "
            "policy_kwargs=dict(optimizer_class=RMSpropTFLike, optimizer_kwargs=dict(eps=1e-5))."
        )
