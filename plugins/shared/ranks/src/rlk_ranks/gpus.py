"""Which device each rank computes on: the ranks of one machine take its GPUs in turn."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

import torch

from rlk.errors import PlanError
from rlk.running.device import takes_gpu
from rlk_ranks.world import title

if TYPE_CHECKING:
    from rlk.planning.plan import Plan
    from rlk_ranks.world import World


def device_of(plan: Plan, ranks: World, hosts: Sequence[str]) -> str:
    """The device of this rank, as a plan names it.

    `cuda` stays `cuda`, so that a saved plan suits any number of ranks: it is torch's current GPU,
    which is set to this rank's. With `auto`, all compute on the CPU if there are too few GPUs.

    Args:
        hosts: the machine of each rank.

    Raises:
        PlanError: on all ranks, if a GPU was asked for that some would have to share and cannot.
    """
    wants = takes_gpu(plan)
    # All ranks exchange this, for each may have been told another device.
    gpus: list[int | None] = ranks.gather(torch.cuda.device_count() if wants else None)
    if not wants:
        host, there = Counter(hosts).most_common(1)[0]
        if plan.device.startswith("cuda:") and there > 1 and not ranks.share_gpus:
            raise _cannot_share(ranks, f"{there} ranks on {host} would share {plan.device}")
        return plan.device
    takers = [(host, count) for host, count in zip(hosts, gpus, strict=True) if count is not None]
    together = Counter(host for host, _ in takers)
    lacking = [one for one in takers if one[1] < (1 if ranks.share_gpus else together[one[0]])]
    if lacking:
        host, few = lacking[0]
        if plan.device == "cuda" and few:
            raise _cannot_share(ranks, f"{together[host]} ranks on {host} have {few} GPU(s)")
        return "cpu" if plan.device == "auto" else "cuda"  # which says that there is none
    mine = hosts[ranks.rank]
    before = zip(hosts[: ranks.rank], gpus, strict=False)
    number = sum(host == mine and count is not None for host, count in before)
    torch.cuda.set_device(number % torch.cuda.device_count())
    return plan.device


def _cannot_share(ranks: World, found: str) -> PlanError:
    return PlanError(
        f"{title(ranks)}: {found}, and each needs one of its own. Use --device cuda with as many "
        "ranks as there are GPUs, --device cpu, or --plugin mpi, whose ranks can share a GPU."
    )
