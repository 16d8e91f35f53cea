"""The device of each rank, on machines with some GPUs."""

from __future__ import annotations

from types import SimpleNamespace

import gymnasium as gym
import numpy as np
import pytest
import torch

from rlk.errors import PlanError
from rlk_ranks.gpus import device_of
from rlk_testing.tools.thread_ranks import on_ranks

IMAGES = gym.spaces.Box(0, 255, (36, 36, 1), np.uint8)
NUMBERS = gym.spaces.Box(-1, 1, (3,), np.float32)
HOSTS = ["a", "b", "a", "b", "a"]


@pytest.fixture
def devices(monkeypatch):
    """devices(asked, gpus of a host, …): of each rank, with the number of its GPU if it has one."""

    def found(asked, gpus, hosts=HOSTS, share=False, space=IMAGES):
        plan = SimpleNamespace(device=asked, policy_space=space)
        everywhere = [gpus[host] for host in hosts]

        def of(rank):
            def gather(mine):
                takes_one = plan.device in ("cuda", "auto") and space is IMAGES
                assert mine == (everywhere[rank] if takes_one else None)
                return everywhere

            current = []
            monkeypatch.setattr(torch.cuda, "device_count", lambda: everywhere[rank])
            monkeypatch.setattr(torch.cuda, "set_device", current.append)
            world = SimpleNamespace(
                name="some", rank=rank, size=len(hosts), share_gpus=share, gather=gather
            )
            device = device_of(plan, world, hosts)
            return (device, *current) if current else device

        return [of(rank) for rank in range(len(hosts))]

    return found


@pytest.mark.parametrize("asked", ["cuda", "auto"])
def test_the_ranks_of_a_machine_take_its_gpus_in_turn(devices, asked):
    expected = [(asked, gpu) for gpu in (0, 0, 1, 1, 2)]
    assert devices(asked, {"a": 3, "b": 2}) == expected


def test_ranks_that_can_share_a_gpu_do_so(devices):
    expected = [("cuda", gpu) for gpu in (0, 0, 1, 0, 0)]
    assert devices("cuda", {"a": 2, "b": 1}, share=True) == expected
    assert devices("cuda:1", {"a": 2, "b": 2}, share=True) == ["cuda:1"] * 5


def test_too_few_gpus_are_refused_or_left_out_on_all_ranks(devices):
    with pytest.raises(PlanError, match=r"'some' \(rlk-some\): 3 ranks on a have 2 GPU\(s\), and"):
        devices("cuda", {"a": 2, "b": 2})
    assert devices("auto", {"a": 2, "b": 2}) == ["cpu"] * 5
    assert devices("auto", {"a": 3, "b": 0}, share=True) == ["cpu"] * 5
    assert devices("cuda", {"a": 0, "b": 0}) == ["cuda"] * 5, "it is refused by its name"


def test_a_gpu_that_was_named_is_not_shared_where_it_cannot_be(devices):
    with pytest.raises(PlanError, match="3 ranks on a would share cuda:1, and each needs one"):
        devices("cuda:1", {"a": 3, "b": 3})
    assert devices("cuda:1", {"a": 2, "b": 2}, hosts=["a", "b"]) == ["cuda:1"] * 2


@pytest.mark.parametrize("asked", ["cpu", "auto"])
def test_the_cpu_stays_the_cpu(devices, asked):
    assert devices(asked, {"a": 3, "b": 3}, space=NUMBERS) == [asked] * 5


def test_ranks_exchange_equally_often_if_they_were_told_different_devices(monkeypatch):
    asked, found, numbers = ["cuda", "cpu", "cuda"], [""] * 3, []
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)
    monkeypatch.setattr(torch.cuda, "set_device", numbers.append)

    def plan_and_meet(ranks):
        ranks.name, ranks.share_gpus = "some", False
        plan = SimpleNamespace(device=asked[ranks.rank], policy_space=NUMBERS)
        found[ranks.rank] = device_of(plan, ranks, ["a"] * 3)
        assert ranks.gather("met") == ["met"] * 3

    on_ranks(3, plan_and_meet)
    assert (found, sorted(numbers)) == (asked, [0, 1]), "two GPUs are enough for two ranks"
