"""NCCL, through which GPUs of several ranks are summed; on one GPU, with one rank."""

from __future__ import annotations

import pytest
import torch
import torch.distributed as dist

from rlk_ranks.mean import mean_over
from rlk_torch_distributed import world

pytestmark = pytest.mark.gpu


@pytest.fixture
def ranks(rlk_gpu, tmp_path):
    """One rank, whose group has both backends."""
    store = f"file://{tmp_path / 'store'}"
    dist.init_process_group(world._backend(dist), init_method=store, rank=0, world_size=1)
    joined = world.join(dist)
    yield joined
    joined.leave()
    dist.destroy_process_group()


def test_tensors_of_a_gpu_are_sent_from_there(ranks):
    assert "nccl" in ranks.library()
    tensor = torch.arange(6.0, device="cuda")
    assert ranks.carrier(tensor.device) == tensor.device
    mean = mean_over(ranks, tensor[::2])
    assert mean.device == tensor.device and mean.tolist() == [0.0, 2.0, 4.0]
    assert mean_over(ranks, torch.tensor([3, 4], device="cuda")).tolist() == [3.0, 4.0]


def test_values_and_tensors_of_the_cpu_are_sent_by_gloo(ranks):
    assert mean_over(ranks, torch.ones(2)).tolist() == [1.0, 1.0]
    assert (ranks.largest(3), ranks.gather("a"), ranks.broadcast({"b": 1})) == (3, ["a"], {"b": 1})
    assert ranks.all_arrive(10.0)
