"""What this distribution offers: `rmsprop`."""

from __future__ import annotations

from rlk.component import Component
from rlk_rmsprop.config import RMSPropConfig

component = Component(
    name="rmsprop",
    factory="rlk_rmsprop.step:RMSProp",
    summary="RMSProp as in TensorFlow or PyTorch, with momentum and gradient clipping",
    config=RMSPropConfig,
    instead_of={
        "use_rms_prop=True": "",
        "optimizer_class=RMSprop": "variant=torch",
        "optimizer_class=RMSpropTFLike": "variant=tensorflow",
    },
)
