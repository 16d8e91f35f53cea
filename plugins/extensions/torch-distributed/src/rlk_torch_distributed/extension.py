"""The parts of `torch-distributed`: ranks that train together, and their message library."""

from __future__ import annotations

from rlk_ranks.config import RanksConfig
from rlk_ranks.extension import SeveralRanks
from rlk_ranks.launch import Launch
from rlk_torch_distributed.world import VARIABLES, world

LAUNCH = Launch(
    name="torch-distributed",
    system="torch.distributed",
    example="torchrun --nproc-per-node 4 -m rlk run … --plugin torch-distributed",
    variables=VARIABLES[:1],
    world=world,
)


def torch_distributed(config: RanksConfig | None = None) -> SeveralRanks:
    """The hooks of `torch-distributed`."""
    return SeveralRanks(LAUNCH, (config or RanksConfig()).check)
