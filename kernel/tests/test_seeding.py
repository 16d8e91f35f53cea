from __future__ import annotations

import copy
import os
import signal
import threading
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace

import numpy as np
import pytest
import torch

from rlk.running.seeding import CONTROL, Streams, draw_seed


def drawn(streams, name, count=4):
    return streams.numpy(name).random(count).tolist()


def test_a_stream_is_the_same_whatever_was_asked_for_before():
    one, two = Streams(7), Streams(7)
    two.numpy("storage").random(100)
    two.torch("update")
    assert drawn(one, "actor") == drawn(two, "actor")


def test_streams_of_other_names_and_seeds_differ():
    streams = Streams(7)
    seen = {tuple(drawn(streams, name)) for name in ("actor", "storage", "update", "environments")}
    seen.add(tuple(drawn(Streams(8), "actor")))
    assert len(seen) == 5


def test_every_reset_of_the_environments_has_seeds_of_its_own():
    streams = Streams(7)
    seeds = [tuple(streams.reset_seeds(2)) for _ in range(4)]
    assert len(set(seeds)) == 4


def test_a_name_is_one_object_that_draws_on():
    streams = Streams(7)
    assert streams.numpy("actor") is streams.numpy("actor")
    assert streams.torch("actor") is streams.torch("actor")
    assert drawn(streams, "actor") != drawn(streams, "actor")


def test_torch_streams_are_seeded_alike():
    def draw():
        return torch.randn(4, generator=Streams(7).torch("actor"))

    assert torch.equal(draw(), draw())
    assert not torch.equal(draw(), torch.randn(4, generator=Streams(8).torch("actor")))


def test_every_rank_has_streams_of_its_own_but_for_control():
    one, two = Streams(7, rank=0), Streams(7, rank=1)
    assert drawn(one, "actor") != drawn(two, "actor")
    assert drawn(one, CONTROL) == drawn(two, CONTROL)
    assert one.integers("environments", 3) != two.integers("environments", 3)


def test_integers_are_seeds_that_stay_the_same():
    streams = Streams(7)
    found = streams.integers("environments", 5)
    assert found == streams.integers("environments", 5) == Streams(7).integers("environments", 5)
    assert len(set(found)) == 5 and all(0 <= seed < 2**31 for seed in found)
    assert streams.integers("environments", 3) == found[:3]


@pytest.mark.parametrize("seed", [1, 6])  # words of both come twice
def test_all_environments_of_a_large_vector_have_other_seeds(seed):
    assert len(set(Streams(seed).integers("environments", 16_384))) == 16_384


def test_a_seed_that_comes_again_is_raised_to_the_next_free_one():
    words = Streams(239)._sequence("environments").generate_state(256, np.uint32) >> 1
    assert words[29] == words[157] == 930310578
    seeds = Streams(239).integers("environments", 256)
    assert seeds[157] == 930310579
    assert seeds[:157] + seeds[158:] == [*words[:157], *words[158:]]


def test_seeds_of_later_resets_differ_as_well(monkeypatch):
    streams = Streams(7)
    streams.reset_seeds(4)
    last = 2**31 - 1
    drawn = SimpleNamespace(integers=lambda high, size: np.array([5, 6, 5, last, last]))
    monkeypatch.setattr(streams, "numpy", lambda name: drawn)
    assert streams.reset_seeds(5) == [5, 6, 7, last, 0]


def test_a_seed_is_drawn_from_so_many_that_two_runs_hardly_have_the_same():
    assert 2**30 < max(draw_seed() for _ in range(200)) < 2**32


def test_without_a_seed_one_is_drawn_and_told():
    one, two = Streams(None), Streams(None)
    assert one.seed != two.seed
    assert drawn(Streams(one.seed), "actor") == drawn(one, "actor")


def test_torchs_global_generator_is_seeded_for_a_moment_only():
    before = torch.get_rng_state()
    with Streams(7).globally("init"):
        one = torch.randn(3)
    assert torch.equal(torch.get_rng_state(), before)
    with Streams(7).globally("init"):
        assert torch.equal(torch.randn(3), one)
    with Streams(8).globally("init"):
        assert not torch.equal(torch.randn(3), one)


def test_a_state_continues_where_it_was():
    streams = Streams(7)
    drawn(streams, "actor"), torch.randn(3, generator=streams.torch("noise"))
    state = copy.deepcopy(streams.state_dict())
    expected = drawn(streams, "actor"), torch.randn(3, generator=streams.torch("noise"))
    twin = Streams(99)
    twin.load_state_dict(state)
    assert twin.seed == 7
    assert drawn(twin, "actor") == expected[0]
    assert torch.equal(torch.randn(3, generator=twin.torch("noise")), expected[1])


def test_torchs_global_generator_continues_where_the_stream_was():
    streams = Streams(7)
    with streams.globally("modules"):
        first = torch.randn(3)
    with streams.globally("modules"):
        second = torch.randn(3)
    with Streams(7).globally("modules"):
        assert torch.equal(torch.randn(6), torch.cat([first, second]))


def test_a_state_taken_meanwhile_holds_torchs_global_generator():
    streams, twin = Streams(7), Streams(99)
    with streams.globally("modules"):
        torch.randn(3)
        state = copy.deepcopy(streams.state_dict())
        expected = torch.randn(3)
    twin.load_state_dict(state)
    with twin.globally("modules"):
        assert torch.equal(torch.randn(3), expected)


def test_a_state_or_a_seed_given_meanwhile_reaches_torchs_global_generator():
    streams, other = Streams(7), Streams(99)
    expected = {}
    for seed in (7, 8):
        with Streams(seed).globally("modules"):
            expected[seed] = torch.randn(3)
    with streams.globally("modules"):
        state = copy.deepcopy(streams.state_dict())
    with other.globally("modules"):
        other.load_state_dict(state)
        assert torch.equal(torch.randn(3), expected[7])
        other.reseed(8)
        assert torch.equal(torch.randn(3), expected[8])


@pytest.fixture
def elsewhere():
    """Calls a function in another thread, always the same one, and returns its result."""
    with ThreadPoolExecutor(1) as pool:
        yield lambda function, *given: pool.submit(function, *given).result(timeout=60)


def alone(seed, count=4, name="modules"):
    with Streams(seed).globally(name):
        return torch.randn(count)


def test_a_thread_that_wants_torchs_global_generator_for_a_moment_waits_for_another():
    order, drawn, begun = [], {}, threading.Event()

    def draws(seed):
        begun.set()
        with Streams(seed).globally("init"):
            order.append(seed)
            drawn[seed] = torch.randn(3)

    with ThreadPoolExecutor(1) as pool:
        with Streams(7).globally("init"):
            first = torch.randn(2)
            other = pool.submit(draws, 8)
            assert begun.wait(timeout=60)
            with pytest.raises(TimeoutError):
                other.result(timeout=0.2)
            order.append(7)
            drawn[7] = torch.cat([first, torch.randn(2)])
        other.result(timeout=60)
    assert order == [7, 8]
    assert torch.equal(drawn[7], alone(7, 4, "init")) and torch.equal(drawn[8], alone(8, 3, "init"))


def test_a_thread_that_trains_while_another_one_does_leaves_torchs_global_generator_to_it(
    elsewhere,
):
    before = torch.get_rng_state()
    there = Streams(8).globally_in_turn("modules")
    with Streams(7).globally_in_turn("modules"):
        first = torch.randn(2)
        elsewhere(there.__enter__)
        assert torch.equal(torch.cat([first, torch.randn(2)]), alone(7))
    elsewhere(there.__exit__, None, None, None)
    assert torch.equal(torch.get_rng_state(), before)


def test_weights_that_another_thread_draws_during_a_training_leave_it_as_it_was(elsewhere):
    with Streams(7).globally_in_turn("modules"):
        first = torch.randn(2)
        assert torch.equal(elsewhere(alone, 8), alone(8))
        assert torch.equal(torch.cat([first, torch.randn(2)]), alone(7))


def test_a_training_that_ends_while_another_thread_draws_weights_gives_back_what_was_before():
    before, drawing, ends = torch.get_rng_state(), threading.Event(), threading.Event()

    def draws():
        with Streams(8).globally("init"):
            drawing.set()
            assert not ends.wait(timeout=0.2), "the end of the training waits for the weights"

    with ThreadPoolExecutor(1) as pool:
        with Streams(7).globally_in_turn("modules"):
            other = pool.submit(draws)
            assert drawing.wait(timeout=60)
        ends.set()
        other.result(timeout=60)
    assert torch.equal(torch.get_rng_state(), before)


def test_a_training_within_a_training_has_torchs_global_generator_meanwhile():
    before = torch.get_rng_state()
    with Streams(7).globally_in_turn("modules"):
        first = torch.randn(2)
        with Streams(8).globally_in_turn("modules"):
            assert torch.equal(torch.randn(4), alone(8))
        assert torch.equal(torch.cat([first, torch.randn(2)]), alone(7))
    assert torch.equal(torch.get_rng_state(), before)


@pytest.mark.skipif(os.name != "posix", reason="forks")
def test_a_fork_does_not_wait_for_threads_that_it_does_not_have(elsewhere):
    there = Streams(7).globally("modules")
    elsewhere(there.__enter__)
    child = os.fork()
    if child == 0:
        signal.alarm(20)
        with Streams(8).globally_in_turn("modules"):
            found = torch.randn(4)
        os._exit(0 if torch.equal(found, alone(8)) else 1)
    elsewhere(there.__exit__, None, None, None)
    assert os.waitpid(child, 0)[1] == 0


def test_streams_that_were_not_asked_for_before_a_checkpoint_come_out_the_same_after_it():
    streams, twin = Streams(7), Streams(99)
    twin.load_state_dict(streams.state_dict())
    assert drawn(twin, "late") == drawn(streams, "late")


def test_a_new_seed_reaches_those_who_hold_a_generator():
    streams = Streams(7)
    held, held_torch = streams.numpy("actor"), streams.torch("actor")
    held.random(5)
    streams.reseed(8)
    assert streams.numpy("actor") is held
    assert held.random(4).tolist() == drawn(Streams(8), "actor")
    expected = torch.randn(3, generator=Streams(8).torch("actor"))
    assert torch.equal(torch.randn(3, generator=held_torch), expected)
    assert drawn(streams, "other") == drawn(Streams(8), "other")


def test_numpys_global_generator_is_left_alone():
    before = np.random.get_state()[1].copy()
    streams = Streams(7)
    drawn(streams, "actor"), streams.integers("environments", 3)
    assert np.array_equal(np.random.get_state()[1], before)
