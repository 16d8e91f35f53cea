"""The component `torch-distributed`."""

from __future__ import annotations

from rlk.component import Component
from rlk_ranks.config import RanksConfig

component = Component(
    name="torch-distributed",
    factory="rlk_torch_distributed.extension:torch_distributed",
    summary="trains on several ranks that torchrun starts; any algorithm, and GPUs by NCCL",
    config=RanksConfig,
    connects="rlk_torch_distributed.extension:LAUNCH.enter",
    only_trains=True,
)
