"""Equal models on all ranks: they start with rank 0's, and a check detects differences."""

from __future__ import annotations

import zlib
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import torch

from rlk.abilities import load_state, state_of
from rlk.errors import RlkError
from rlk.running.modes import reads_mode
from rlk.saving.untrained import restore_untrained, untrained

if TYPE_CHECKING:
    from torch import Tensor, nn

    from rlk.protocols import State
    from rlk.running.run import Run
    from rlk_ranks.communicator import RanksCommunicator


def share_model(run: Run, communicator: RanksCommunicator) -> None:
    """Replace all that is learnt by rank 0's: parameters, statistics, targets, optimisers."""
    first = communicator.broadcast(model_of(run) if communicator.rank == 0 else None)
    if communicator.rank == 0:
        return
    run.parameters.load_state_dict(first["parameters"])
    restore_untrained(run, first["buffers"])
    load_state(run.algorithm, first["algorithm"])
    run.optimise.load_state_dict(first["optimise"])
    for name, flat in apart(run).items():
        flat.copy_(first["apart"][name])


def model_of(run: Run) -> State:
    """The part of the state that must be equal on all ranks."""
    return {
        "parameters": run.parameters.state_dict(),
        "buffers": {name: value.clone() for name, value in untrained(run).items()},
        "algorithm": state_of(run.algorithm),
        "optimise": run.optimise.state_dict(),
        "apart": {name: flat.clone() for name, flat in apart(run).items()},
    }


def apart(run: Run) -> dict[str, Tensor]:
    """The parameters of groups that are not the policy's, such as those of a plugin's network."""
    policy = run.parameters.flat.untyped_storage().data_ptr()
    flats = {name: group.flat for name, group in run.optimise.groups.items()}
    return {
        name: flat for name, flat in flats.items() if flat.untyped_storage().data_ptr() != policy
    }


def statistics_of(policy: nn.Module) -> list[Tensor]:
    """Statistics that modules compute from batches of their rank: running means and variances.

    These are the floating-point buffers of modules that compute differently during training, such
    as those of batch normalisation.
    """
    owners = filter(reads_mode, policy.modules())
    buffers = {id(one): one for owner in owners for one in owner.buffers(recurse=False)}
    return [one for one in buffers.values() if one.is_floating_point()]


def average_statistics(statistics: Sequence[Tensor], communicator: RanksCommunicator) -> None:
    """Replace statistics by their mean over ranks, in one all-reduce; does nothing without any.

    Once per iteration is enough, because updates normalise by their own batch. (PyTorch's
    DistributedDataParallel uses rank 0's statistics instead, which leave out the others' data.)
    """
    if not statistics:
        return
    mean = communicator.mean(torch.cat([one.flatten() for one in statistics]))
    parts = mean.split_with_sizes([one.numel() for one in statistics])
    for one, part in zip(statistics, parts, strict=True):
        one.copy_(part.view_as(one))


def fingerprints(run: Run) -> dict[str, int]:
    """The checksum of the bits of every parameter group, and of the policy's parameters."""
    flats = {name: group.flat for name, group in run.optimise.groups.items()}
    flats["all parameters"] = run.parameters.flat
    return {name: zlib.crc32(flat.detach().cpu().numpy().tobytes()) for name, flat in flats.items()}


def check_parameters(run: Run, communicator: RanksCommunicator) -> None:
    """Raise RlkError, on every rank, if a rank has other parameters than rank 0."""
    found = first_difference(communicator.gather(fingerprints(run)))
    if found is not None:
        rank, group = found
        raise RlkError(
            f"{communicator.title}: rank {rank} has other parameters than rank 0 in group "
            f"{group!r} at timestep {run.timesteps}.\n"
            "A plugin changes them on one rank alone, or takes a step with something that is not a "
            "mean over ranks. Use mean, agree and gather of `run.communicator`."
        )


def first_difference(gathered: Sequence[Mapping[str, int] | None]) -> tuple[int, str] | None:
    """(rank, group) of the first that differs from rank 0, or None."""
    first: Any = gathered[0]
    for rank, theirs in enumerate(gathered):
        for group in first or ():
            if theirs is not None and theirs[group] != first[group]:
                return rank, group
    return None


def check_clock(run: Run, communicator: RanksCommunicator) -> None:
    """Raises RlkError, on every rank, if they would not train the same timesteps."""
    clock = run.clock
    gathered = communicator.gather((clock.timesteps, clock.total_timesteps))
    for rank, theirs in enumerate(gathered):
        if theirs != gathered[0]:
            text = "rank 0 is to train from timestep {} to {}, rank {} from {} to {}."
            raise RlkError(
                f"{communicator.title}: {text.format(*gathered[0], rank, *theirs)} Call learn on "
                "every rank with the same arguments."
            )
