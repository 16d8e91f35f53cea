"""What this distribution offers: `torch-optim`."""

from __future__ import annotations

from rlk.component import Component
from rlk_torch_optim.config import ARGUMENTS, TorchOptimConfig

#: Those that have components of their own (`adam`, `rmsprop`).
_ELSEWHERE = ("Adam", "RMSprop")
#: Arguments that no other optimiser has as a setting.
_ALONE = ("weight_decay", "amsgrad", "nesterov")

component = Component(
    name="torch-optim",
    factory="rlk_torch_optim.step:TorchOptim",
    summary="AdamW, SGD, NAdam, … of torch.optim, with their arguments and gradient clipping",
    config=TorchOptimConfig,
    instead_of={
        **{f"optimizer_class={one}": f"kind={one}" for one in ARGUMENTS if one not in _ELSEWHERE},
        "optimizer_class": "an optimiser is a plugin: rlk plugins list --kind optimisers. Of "
        f"torch.optim, torch-optim:kind=NAME has {', '.join(ARGUMENTS)}.",
        **{
            name: f"{name} is an argument of torch.optim's classes, in "
            f"torch-optim:arguments={{{{{name}={{value}}}}}}."
            for name in _ALONE
        },
    },
)
