"""What this distribution offers: `torch-optim`."""

from __future__ import annotations

from rlk.component import Component
from rlk_torch_optim.config import ARGUMENTS, TorchOptimConfig

#: Those that have components of their own (`adam`, `rmsprop`).
_ELSEWHERE = ("Adam", "RMSprop")

component = Component(
    name="torch-optim",
    factory="rlk_torch_optim.step:TorchOptim",
    summary="AdamW, SGD, NAdam, … of torch.optim, with their arguments and gradient clipping",
    config=TorchOptimConfig,
    instead_of={
        f"optimizer_class={kind}": f"kind={kind}" for kind in ARGUMENTS if kind not in _ELSEWHERE
    },
)
