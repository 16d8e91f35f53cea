"""The parts that need no second rank."""

from __future__ import annotations

import math
import sys
from email.message import Message
from types import SimpleNamespace
from urllib.error import HTTPError

import pytest
import torch

from rlk.errors import BadFile, PlanError, RlkError
from rlk.running.clock import Clock
from rlk.running.metrics import EPISODE_WINDOW, Metrics
from rlk_ranks import guard, merge_metrics
from rlk_ranks.communicator import RanksCommunicator
from rlk_ranks.consistency import average_statistics, first_difference, statistics_of
from rlk_ranks.guard import error_text, exit_code
from rlk_ranks.mean import mean_over
from rlk_ranks.world import LEFT, OtherRankEnded


def test_a_row_is_the_mean_of_what_differs_and_this_ranks_of_what_does_not():
    mine = {"time/fps": 10.0, "train/loss": 1.0, "train/n_updates": 7, "train/nan": math.nan}
    other = {"time/fps": 30.0, "train/loss": 4.0, "train/n_updates": 7, "train/nan": 2.0, "x": 5.0}
    row = merge_metrics.merge_rows([mine, other, None], mine)
    assert row == {
        "time/fps": 10.0,
        "train/loss": 2.5,
        "train/n_updates": 7,
        "train/nan": 2.0,
        "x": 5.0,
    }
    assert isinstance(row["train/n_updates"], int) and list(row)[:4] == list(mine)


def test_a_tag_that_is_nowhere_finite_is_nan():
    row = merge_metrics.merge_rows([{"a": math.nan}, {"a": math.inf}], {"a": math.nan})
    assert math.isnan(row["a"])


def run_of(*returns):
    """As much of a run as is looked at, with these episodes of one step behind it."""
    clock = Clock(0)
    run = SimpleNamespace(clock=clock, metrics=Metrics(clock))
    for return_ in returns:
        ends(run, return_)
    return run


def ends(run, return_):
    run.metrics.episode_ended(float(return_), 1, float(return_ > 10))
    run.clock.episodes += 1


def test_episodes_of_all_ranks_stand_in_turn_on_every_rank():
    first, second = run_of(1, 2), run_of(1, 2)
    for return_ in (10, 11, 12):
        ends(first, return_)
    for return_ in (20, 21):
        ends(second, return_)
    found = [merge_metrics.new_episodes(first, 2), merge_metrics.new_episodes(second, 2)]
    assert found == [
        (3, [(10.0, 1), (11.0, 1), (12.0, 1)], [False, True, True]),
        (2, [(20.0, 1), (21.0, 1)], [True, True]),
    ]
    for rank, run in enumerate((first, second)):
        merge_metrics.merge_episodes(run, found, rank)
        assert [return_ for return_, _ in run.metrics.recent_episodes] == [
            *(1, 2),
            *(10, 11, 20, 12, 21),
        ]
        assert [*run.metrics.recent_successes] == [False] * 3 + [True] * 4
        assert run.clock.episodes == 7
        assert merge_metrics.new_episodes(run, 7) is None


@pytest.mark.parametrize(("ended", "others"), [(3, 250), (250, 3), (60, 60), (0, 1), (120, 0)])
def test_the_window_of_episodes_is_equal_however_many_ended(ended, others):
    old = list(range(80))
    first, second = run_of(*old), run_of(*old)
    for number in range(ended):
        ends(first, 1000 + number)
    for number in range(others):
        ends(second, 2000 + number)
    found = [merge_metrics.new_episodes(first, 80), merge_metrics.new_episodes(second, 80)]
    merge_metrics.merge_episodes(first, found, 0)
    merge_metrics.merge_episodes(second, found, 1)
    # Twin: all episodes in one list, sorted by how many of their rank follow, its last hundred.
    new = [(n - ended, 1000 + n) for n in range(ended)]
    new += [(n - others, 2000 + n) for n in range(others)]
    expected = [*old, *(return_ for _, return_ in sorted(new))][-EPISODE_WINDOW:]
    assert [return_ for return_, _ in first.metrics.recent_episodes] == expected
    assert [return_ for return_, _ in second.metrics.recent_episodes] == expected
    assert first.clock.episodes == second.clock.episodes == 80 + ended + others


def test_a_full_window_holds_as_many_episodes_of_each_rank():
    runs = [run_of(), run_of(), run_of()]
    for rank, run in enumerate(runs):
        for _ in range(200):
            ends(run, rank)
    found = [merge_metrics.new_episodes(run, 0) for run in runs]
    merge_metrics.merge_episodes(runs[0], found, 0)
    returns = [return_ for return_, _ in runs[0].metrics.recent_episodes]
    assert [returns.count(rank) for rank in range(3)] == [33, 33, 34]


def test_the_first_rank_and_group_that_differ_are_named():
    same = {"actor": 1, "critic": 2}
    assert first_difference([same, dict(same), dict(same)]) is None
    assert first_difference([same, dict(same), {"actor": 1, "critic": 3}]) == (2, "critic")
    assert first_difference([same, None]) is None


def test_statistics_of_batches_become_the_mean_over_ranks_and_other_buffers_stay():
    class Scaled(torch.nn.Linear):
        def __init__(self):
            super().__init__(2, 2)
            self.register_buffer("scale", torch.tensor(0.1))

    def policy(mean, variance):
        norm = torch.nn.BatchNorm1d(2)
        norm.running_mean.fill_(mean)
        norm.running_var.fill_(variance)
        return torch.nn.Sequential(norm, Scaled())

    mine, other = policy(1.0, 4.0), policy(3.0, 2.0)
    theirs = torch.cat([one.flatten() for one in statistics_of(other)])
    average_statistics(statistics_of(mine), SimpleNamespace(mean=lambda flat: (flat + theirs) / 2))
    assert mine[0].running_mean.tolist() == [2.0, 2.0]
    assert mine[0].running_var.tolist() == [3.0, 3.0]
    assert len(statistics_of(mine)) == 2


def test_a_policy_without_statistics_asks_no_other_rank():
    policy = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.Dropout())
    assert statistics_of(policy) == []
    average_statistics([], None)


class OtherHasZeros:
    """Two ranks, as `World` has them."""

    size = 2

    def carrier(self, device):
        return device

    def sum_up(self, tensor):
        assert tensor.is_contiguous()


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.float16, torch.bfloat16])
def test_a_mean_keeps_dtype_shape_and_what_it_was_given(dtype):
    whole = torch.arange(12.0).reshape(3, 4).to(dtype)
    part = whole[:, ::2].t()
    found = mean_over(OtherHasZeros(), part)
    assert found.dtype == dtype and found.tolist() == [[0, 2, 4], [1, 3, 5]]
    assert part.tolist() == [[0, 4, 8], [2, 6, 10]]


def test_the_mean_of_counts_is_a_float():
    assert mean_over(OtherHasZeros(), torch.tensor([1, 2])).tolist() == [0.5, 1.0]
    assert mean_over(OtherHasZeros(), torch.tensor(True)).item() == 0.5


def test_the_mean_of_three_ranks_is_a_third_of_their_sum():
    others = SimpleNamespace(size=3, carrier=lambda device: device, sum_up=lambda one: one.add_(1))
    assert mean_over(others, torch.tensor([2.0, -4.0])).tolist() == [1.0, -1.0]


def test_large_counts_are_summed_exactly():
    others = SimpleNamespace(size=2, carrier=lambda device: device)
    others.sum_up = lambda one: one.sub_(2**24 - 1)
    assert mean_over(others, torch.tensor([2**24 + 1])).tolist() == [1.0]


# ---- how it ends ---------------------------------------------------------------------------------


class Endings:
    """Two ranks, as a `Guard` has them; `largest` returns what the other one answers."""

    name, rank, size = "two", 0, 2

    def __init__(self, answer=0, is_over=False):
        self.answer, self.over, self.done = answer, is_over, []

    def largest(self, number):
        self.done.append(number)
        return max(number, self.answer)

    def is_over(self):
        return self.over

    def watch(self):
        pass

    def all_arrive(self, seconds):
        self.done.append("arrived")
        return True

    def release(self):
        self.done.append("released")


@pytest.fixture
def guarded(monkeypatch):
    """guarded(ranks): their guard, without its hooks at the end of this process."""
    monkeypatch.setattr(sys, "excepthook", sys.excepthook)
    monkeypatch.setattr(guard, "atexit", SimpleNamespace(register=lambda function: None))
    return guard.Guard


@pytest.mark.parametrize(
    ("phase", "done"),
    [
        (guard.PLANNING, ["arrived", "released"]),
        (guard.TOGETHER, [LEFT, "released"]),
        (guard.ALONE, [LEFT, "released"]),
        (guard.DESERTED, ["released"]),
    ],
)
def test_a_rank_that_leaves_tells_those_that_may_wait_for_it(guarded, phase, done):
    mine = guarded(Endings())
    mine.phase = phase
    mine._leave()
    assert mine.ranks.done == done


def test_nothing_is_sent_after_the_end_of_the_library_or_from_a_fork(guarded, monkeypatch):
    for mine in (guarded(Endings(is_over=True)), guarded(Endings())):
        mine.phase = guard.ALONE
        mine._leave()
        assert mine.ranks.done == ([] if mine.ranks.over else [LEFT, "released"])
    fork = guarded(Endings())
    monkeypatch.setattr(guard.os, "getpid", lambda: -1)
    fork._leave()
    assert fork.ranks.done == []


def test_a_rank_that_plans_alone_is_refused_and_says_what_to_type(guarded):
    guarded(Endings()).meet()
    mine = guarded(Endings(answer=LEFT))
    with pytest.raises(PlanError, match=r"ended before rank 0 called make.*plugins=\['no:two'\]"):
        mine.meet()
    assert mine.phase == guard.DESERTED


def test_a_rank_that_trains_notices_that_another_one_has_left():
    communicator = RanksCommunicator(Endings(answer=LEFT), lambda replay: {})
    with pytest.raises(OtherRankEnded, match="the program of another rank has ended"):
        communicator.gather("a value")


@pytest.mark.parametrize(("rank", "is_told"), [(1, True), (0, False)])
def test_a_rank_that_misses_a_file_is_told_that_rank_0_writes(guarded, monkeypatch, rank, is_told):
    mine, said = guarded(Endings()), []
    mine.ranks.rank = rank
    monkeypatch.setattr(mine, "end", lambda text, code: said.append((text, code)))
    mine._hook = lambda *what: None
    mine._uncaught(BadFile, BadFile("the file model.zip does not exist."), None)
    ((text, code),) = said
    assert f"that was rank {rank}" in text and code == BadFile("").exit_code
    assert ("agent.run.communicator.gather(None)" in text) == is_told


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (RuntimeError("x"), 1),
        (PlanError("x"), 2),
        (RlkError("x"), 1),
        (KeyboardInterrupt(), 130),
        (SystemExit(7), 7),
        (SystemExit("text"), 1),
        (SystemExit(0), 1),
        (HTTPError("http://x", 404, "Not Found", Message(), None), 1),
    ],
)
def test_the_exit_code_is_that_of_the_command_line(error, code):
    assert exit_code(error) == code


def raised():
    try:
        raise RuntimeError("the sensor came off")
    except RuntimeError as error:
        return error


def test_an_error_of_ours_is_its_message():
    assert error_text(RlkError("one\ntwo")) == "one\ntwo"


def test_a_program_of_the_users_gets_a_traceback_and_the_command_line_a_place(monkeypatch):
    monkeypatch.delitem(sys.modules, "rlk_cli.main", raising=False)
    assert "Traceback" in error_text(raised()) and "sensor came off" in error_text(raised())
    monkeypatch.setitem(sys.modules, "rlk_cli.main", SimpleNamespace())
    short = error_text(raised())
    assert "Traceback" not in short and "in raised" in short and "--debug" in short
    monkeypatch.setattr(sys, "argv", ["rlk", "run", "--debug"])
    assert "Traceback" in error_text(raised())
