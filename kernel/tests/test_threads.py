"""Torch's threads: a number of the whole process, which runs share."""

from __future__ import annotations

import gc

import pytest
import torch

from rlk.running.device import Threads
from rlk_testing.stand_ins import StandInPolicy

pytestmark = pytest.mark.usefixtures("rlk_one_thread")


class Opened:
    """In the place of a run."""


def test_threads_are_as_told_and_else_one_for_a_small_network(make):
    make(n_threads=2)
    assert torch.get_num_threads() == 2
    make(n_threads=None)
    assert torch.get_num_threads() == 1


def test_a_large_network_has_the_programs_threads_whatever_an_earlier_run_had():
    torch.set_num_threads(3)
    threads, run, other = Threads(), Opened(), Opened()
    for asked, had in ((None, 3), (1, 1), (None, 3), (2, 2), (2, 2), (None, 3)):
        threads.set(run, asked)
        assert torch.get_num_threads() == had
    threads.set(run, 1)
    torch.set_num_threads(4)  # by the program, between two runs
    threads.set(other, None)
    assert torch.get_num_threads() == 4


def test_a_run_trains_on_its_own_threads_whatever_other_runs_there_are(make):
    first = make(n_threads=2)
    make(n_threads=1)
    first.learn(8)
    assert torch.get_num_threads() == 2


@pytest.mark.parametrize("closed", [(0, 1, 2), (2, 1, 0), (1, 2, 0), (0, 0, 2, 1)])
def test_closed_runs_give_back_the_threads_of_the_program_in_any_order(make, closed):
    torch.set_num_threads(3)
    agents = [make(n_threads=1), make(n_threads=2), make(n_threads=4)]
    for index in closed:
        agents[index].close()
        still_open = [each.plan.n_threads for each in agents if not each.run.closed]
        assert torch.get_num_threads() == [3, *still_open][-1]


def test_a_run_that_is_closed_while_another_trains_leaves_it_its_threads(make):
    torch.set_num_threads(3)
    seen = []

    def play_another(run):
        make(n_threads=2).close()
        seen.append(torch.get_num_threads())

    agent = make(n_threads=1)
    make(n_threads=4)
    agent.learn(8, callback=play_another)
    assert set(seen) == {1}


def test_what_the_program_has_set_since_stays_when_a_run_is_closed(make):
    agent = make(n_threads=2)
    torch.set_num_threads(3)
    agent.close()
    assert torch.get_num_threads() == 3


def test_a_run_that_was_dropped_without_being_closed_has_no_threads():
    torch.set_num_threads(3)
    threads, dropped, run = Threads(), Opened(), Opened()
    threads.set(dropped, 2)
    threads.set(run, 1)
    del dropped
    gc.collect()
    threads.give_back(run)
    assert torch.get_num_threads() == 3


def test_weights_begin_alike_whatever_the_number_of_threads(make):
    begun = []

    class Orthogonal(StandInPolicy):
        def build(self, observation_space, heads):
            policy = super().build(observation_space, heads)
            begun.append(torch.nn.init.orthogonal_(torch.empty(256, 256)))
            return policy

    for n_threads in (1, 4):
        torch.set_num_threads(n_threads)
        make(policy=Orthogonal, seed=1)
        assert torch.equal(begun[0], begun[-1])
