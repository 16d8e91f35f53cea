"""Who started this process, what is missing, and how a lost rank is told from another error."""

from __future__ import annotations

import subprocess
import sys
from types import SimpleNamespace

import pytest
import torch

from rlk.errors import PlanError
from rlk_ranks.world import OtherRankEnded
from rlk_torch_distributed import world
from rlk_torch_distributed.extension import LAUNCH
from rlk_torch_distributed.world import TorchWorld


@pytest.fixture
def launched(monkeypatch):
    for name, value in zip(world.VARIABLES, ("2", "0", "localhost", "1"), strict=True):
        monkeypatch.setenv(name, value)
    world.world.cache_clear()
    yield
    world.world.cache_clear()


@pytest.mark.parametrize("size", ["1", "many"])
def test_one_rank_alone_needs_nothing(launched, monkeypatch, size):
    monkeypatch.setenv("WORLD_SIZE", size)
    assert world.world() is None and LAUNCH.enter() is None


def test_what_a_launcher_has_left_out_is_named(launched, monkeypatch):
    monkeypatch.delenv("MASTER_PORT")
    with pytest.raises(PlanError, match=r"MASTER_PORT are not set\. Start the ranks with torchrun"):
        world.world()


def test_a_torch_without_it_is_told(launched, monkeypatch):
    monkeypatch.setattr(torch.distributed, "is_available", lambda: False)
    with pytest.raises(PlanError, match=r"has no torch.distributed\. Use --plugin mpi"):
        world.world()


def test_planning_on_one_rank_imports_no_torch():
    code = "import sys, rlk_torch_distributed.extension as it; it.LAUNCH.enter(); "
    code += "sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0


def of_two(**does):
    return TorchWorld(SimpleNamespace(**does), None, 0, 2)


class Fails:
    """In the place of `torch.distributed`: every message fails with these words."""

    ReduceOp = torch.distributed.ReduceOp

    def __init__(self, words):
        self._words = words

    def __getattr__(self, name):
        def fail(*arguments, **keywords):
            raise RuntimeError(self._words)

        return fail


@pytest.mark.parametrize(
    "send",
    [
        lambda ranks: ranks.sum_up(torch.ones(1)),
        lambda ranks: ranks.largest(1),
        lambda ranks: ranks.gather(1),
        lambda ranks: ranks.broadcast(1),
        lambda ranks: ranks.send(1),
        lambda ranks: ranks.receive(1),
    ],
)
def test_a_process_that_is_gone_is_told_from_other_errors(send):
    for words in ("closed by peer", "reset by peer", "refused"):
        gone = f"[gloo/transport/tcp/pair.cc:547] Connection {words}"
        with pytest.raises(OtherRankEnded, match="another rank has ended"):
            send(TorchWorld(Fails(gone), None, 0, 2))
    with pytest.raises(OtherRankEnded):
        send(TorchWorld(Fails("writev: Broken pipe"), None, 0, 2))
    with pytest.raises(RuntimeError, match="invalid shapes"):
        send(TorchWorld(Fails("invalid shapes"), None, 0, 2))


def test_a_rank_that_never_arrives_is_not_waited_for():
    work = SimpleNamespace(is_completed=lambda: False)
    assert not of_two(all_gather=lambda *tensors, **how: work).all_arrive(0.02)

    def wait():
        raise RuntimeError("Connection reset by peer")

    work = SimpleNamespace(is_completed=lambda: True, wait=wait)
    assert not of_two(all_gather=lambda *tensors, **how: work).all_arrive(0.02)


#: Letting go of so many tensors takes the group's threads longer than the program to its end, which
#: gives them no turn. The module that is imported keeps the default group.
ENDS = """
import sys
import torch
import torch.distributed as dist
from rlk_torch_distributed.world import join

dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
ranks = join(dist)
import torch.distributed.nn.functional
sys.setswitchinterval(1000.0)
dist.all_reduce_coalesced([torch.ones(1) for _ in range(5_000)], group=ranks.group)
"""


def test_a_rank_ends_though_threads_of_torch_still_hold_its_tensors():
    done = subprocess.run([sys.executable, "-c", ENDS], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_a_program_may_end_all_process_groups_itself():
    ranks = of_two(is_initialized=lambda: False)
    ranks.leave()
    assert ranks.group is None and ranks.is_over()


def test_its_own_group_and_the_one_that_it_made_for_it_end_with_the_program(launched, monkeypatch):
    dist, at_exit, destroyed = torch.distributed, [], []
    given = {"init_process_group": None, "new_group": "own", "get_rank": 1, "get_world_size": 2}
    for name, found in given.items():
        monkeypatch.setattr(dist, name, lambda *_, found=found, **how: found)
    monkeypatch.setattr(world.atexit, "register", lambda *call: at_exit.append(call))
    ranks = world.world()
    assert (ranks.group, ranks.rank, ranks.size) == ("own", 1, 2)
    monkeypatch.setattr(dist, "is_initialized", lambda: True)
    monkeypatch.setattr(dist, "destroy_process_group", lambda *group: destroyed.append(group))
    for end, *arguments in reversed(at_exit):
        end(*arguments)
    assert destroyed == [("own",), ()] and ranks.group is None


def test_tensors_of_a_gpu_are_sent_from_there():
    assert of_two().carrier(torch.device("cuda:1")) == torch.device("cuda:1")
    assert of_two().carrier(torch.device("cpu")) == "cpu"
