"""What the communicator does, tried on the ranks themselves; prints "all well" on each."""

from __future__ import annotations

import numpy as np
import torch
from launched import guard

from rlk_ranks.communicator import RanksCommunicator
from rlk_ranks.guard import ALONE

guard().phase = ALONE
ranks = guard().ranks
rank, size = ranks.rank, ranks.size
asked = []


def state(replay):
    asked.append(replay)
    return {"rank": rank}


communicator = RanksCommunicator(ranks, state)
assert (communicator.rank, communicator.size) == (rank, size)

# What carries the values.
assert ranks.all_arrive(60.0)
assert ranks.largest(rank) == size - 1

# Means: right, and the same bits on every rank.
for length in (0, 1, 7, 1000, 70_001):
    everyone = [np.random.default_rng(r).standard_normal(length) for r in range(size)]
    mine = torch.tensor(everyone[rank], dtype=torch.float32)
    found = communicator.mean(mine)
    assert np.allclose(found.numpy(), np.mean(everyone, axis=0), atol=1e-6)
    bits = found.numpy().tobytes()
    assert communicator.gather(bits) == [bits] * size
    assert mine.numpy().tobytes() == everyone[rank].astype(np.float32).tobytes(), "changed"

# Every dtype, shape and stride; what comes back is the tensor's own kind.
middle = (size - 1) / 2
for dtype in (torch.float64, torch.float32, torch.float16, torch.bfloat16):
    found = communicator.mean(torch.full((2, 3), float(rank), dtype=dtype).t())
    assert found.dtype == dtype and found.shape == (3, 2) and bool((found == middle).all())
assert communicator.mean(torch.tensor(rank)).item() == middle
assert communicator.mean(torch.tensor(rank == 0)).item() == np.float32(1 / size)
whole = torch.arange(6.0).reshape(2, 3) * (1 + rank)
assert communicator.mean(whole[:, 1:]).tolist() == [
    [1 + middle, 2 + 2 * middle],
    [4 + 4 * middle, 5 + 5 * middle],
]
grows = torch.tensor(1.0, requires_grad=True)
assert not communicator.mean(grows * rank).requires_grad
assert communicator.mean(torch.tensor(float("nan") if rank == 1 else 0.0)).isnan()

# Values.
assert communicator.gather(None) == [None] * size
assert communicator.gather(rank or None) == [None, *range(1, size)]
assert communicator.agree({"from": rank}) == {"from": 0}
assert communicator.agree(None if rank == 0 else "ignored") is None

# Rank 0 asks for states while the others are about to say something, and at the end.
if rank == 0:
    assert communicator.states(True) == [None, *[{"rank": r} for r in range(1, size)]]
assert communicator.gather(rank) == list(range(size))
assert asked == ([] if rank == 0 else [True])
if rank == 0:
    assert communicator.gather("a row that nobody else has") == [
        "a row that nobody else has",
        *[None] * (size - 1),
    ]
    communicator.states(False)
communicator.end()
assert asked == ([] if rank == 0 else [True, False])

# One that speaks when rank 0 has come to the end is not left waiting.
if rank != 0:
    assert communicator.gather(rank)[rank] == rank
communicator.end()
assert communicator.gather(rank) == list(range(size))
if ranks.name == "mpi":
    from rlk_mpi.shared_memory import named

    assert named() == set(), "what ranks share would stay in /dev/shm if they were killed"
print(f"rank {rank}: all well", flush=True)
