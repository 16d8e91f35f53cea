"""What a rank takes over from rank 0, and what stays its own."""

from __future__ import annotations

import zlib
from collections import deque
from functools import partial
from types import SimpleNamespace

import pytest
import torch

from rlk import hookimpl
from rlk.running.seeding import CONTROL, Streams
from rlk_ranks.checkpoints import copied, differences, keep_apart, own_state, restore_own
from rlk_ranks.communicator import END, STATES, VALUES, RanksCommunicator
from rlk_ranks.consistency import apart, fingerprints, share_model
from rlk_ranks.training import JointTraining


class Holds:
    """A part of a run that holds one value."""

    def __init__(self, value):
        self.value = value

    def state_dict(self):
        return {"value": self.value}

    def load_state_dict(self, state):
        self.value = state["value"]


def model(value):
    """As much of a run as is shared, with this number everywhere."""
    policy = torch.nn.BatchNorm1d(1)
    policy.running_mean.fill_(value)
    parts = {name: Holds(value) for name in ("parameters", "algorithm", "optimise")}
    run = SimpleNamespace(policy=policy, **parts)
    run.parameters.names, run.parameters.flat = ["weight", "bias"], torch.tensor([0.0, value])
    flats = {"policy": run.parameters.flat[1:], "of a plugin": torch.tensor([value])}
    run.optimise.groups = {name: SimpleNamespace(flat=flat) for name, flat in flats.items()}
    return run


def numbers(run):
    parts, of_plugin = (run.parameters, run.algorithm, run.optimise), "of a plugin"
    own = [run.policy.running_mean, run.optimise.groups[of_plugin].flat]
    return [*(part.value for part in parts), *(one.item() for one in own)]


def test_only_groups_that_are_not_the_policys_are_sent_by_themselves():
    assert list(apart(model(1.0))) == ["of a plugin"]


def test_all_that_is_learnt_becomes_rank_0s():
    first, second, sent = model(1.0), model(2.0), []
    share_model(first, SimpleNamespace(rank=0, broadcast=sent.append))
    own = []
    share_model(second, SimpleNamespace(rank=1, broadcast=lambda mine: own.append(mine) or sent[0]))
    assert own == [None] and numbers(first) == numbers(second) == [1.0] * 5


def test_parameters_that_no_optimiser_has_are_compared_too():
    run = SimpleNamespace(
        optimise=SimpleNamespace(groups={"pi": SimpleNamespace(flat=torch.tensor([1.0]))}),
        parameters=SimpleNamespace(flat=torch.tensor([1.0, 2.0])),
    )
    bits = {"pi": b"\0\0\x80?", "all parameters": b"\0\0\x80?\0\0\0@"}  # of 1 and of 2
    assert fingerprints(run) == {name: zlib.crc32(one) for name, one in bits.items()}


class Level:
    """A plugin whose level belongs to the model."""

    def __init__(self, level):
        self.level = level

    @hookimpl
    def rlk_save_with_model(self):
        return {"level": self.level}

    @hookimpl
    def rlk_load_with_model(self, state):
        self.level = state["level"]


def test_a_rank_restores_its_own_state_of_plugins_that_belongs_to_a_model(
    rlk_make, rlk_stand_in_kernel
):
    def made(level):
        return rlk_make("stand-in", kernel=rlk_stand_in_kernel, plugins=[level]).run

    state, first = own_state(made(Level(5)), replay=True), Level(2)
    restore_own(made(first), state)  # which holds rank 0's
    assert first.level == 5


class Still:
    """A collector that steps nothing, and has no state."""

    def __init__(self, run): ...

    def collect(self):
        return True

    def forget(self): ...

    def state_dict(self):
        return {}

    def load_state_dict(self, state): ...


def test_a_rank_with_another_collector_begins_new_episodes(rlk_make, rlk_stand_in_kernel):
    rlk_stand_in_kernel.registries.collectors.register("still", Still)
    made = partial(rlk_make, "stand-in", kernel=rlk_stand_in_kernel)
    state, run = own_state(made(collector="still").run, replay=True), made().run
    forgotten = []
    run.collector.forget = lambda: forgotten.append(True)
    restore_own(run, state)
    assert forgotten == [True]


def restored(rank, seed_of_actor):
    """A rank whose streams are those of the checkpoint's rank 0, but `actor` of that rank."""
    streams, other = Streams(5, rank), Streams(5, seed_of_actor)
    streams.numpy("actor").bit_generator.state = other.numpy("actor").bit_generator.state
    streams.numpy(CONTROL).random(rank)  # it may have drawn more than rank 0
    forgotten = []
    collector = SimpleNamespace(forget=lambda: forgotten.append(rank))
    return SimpleNamespace(streams=streams, collector=collector, forgotten=forgotten)


@pytest.mark.parametrize(
    ("rank", "of_rank", "is_new"), [(0, 0, False), (1, 0, True), (1, 1, False)]
)
def test_a_rank_with_rank_0s_streams_gets_its_own_and_new_episodes(rank, of_rank, is_new):
    first, mine = restored(0, 0).streams.state_dict()["numpy"], restored(rank, of_rank)
    communicator = SimpleNamespace(rank=rank, broadcast=lambda own: first)
    assert keep_apart(mine, communicator) is is_new
    assert mine.forgotten == [rank] * is_new
    streams = mine.streams.state_dict()["numpy"]
    assert streams["actor"] == Streams(5, rank).numpy("actor").bit_generator.state
    assert streams[CONTROL] == first[CONTROL]


def test_one_stream_of_rank_0_is_enough_to_be_its_copy_unless_it_is_control():
    first = {CONTROL: 0, "actor": 1}
    assert copied({CONTROL: 0, "actor": 1, "of a plugin": 2}, first)
    assert not copied({CONTROL: 0, "actor": 5, "of a plugin": 2}, first)


def test_ranks_that_are_lost_or_new_are_reported():
    saved = {"size": 2, "ranks": []}
    assert list(differences(saved, [None, None])) == []
    assert list(differences(saved, [None, None, True])) == [
        "rank 2 has no state in the checkpoint: its episodes start anew, and its replay is rank 0's"
    ]
    (lost,) = differences(saved, [None])
    assert lost.startswith("the checkpoint has 2 ranks and this run has 1")
    assert list(differences(None, [None])) == []


def test_every_training_ends_by_rank_0s_word():
    asked = []
    world = SimpleNamespace(name="two", rank=1, size=2)
    world.largest = lambda number: asked.append(number) or END
    communicator = RanksCommunicator(world, lambda replay: {})
    for ends in (1, 2):
        communicator.end()
        assert len(asked) == ends
    assert communicator.gather("mine") == [None, "mine"]
    communicator.end()
    assert len(asked) == 3, "it has been told already"
    communicator.end()
    assert len(asked) == 4


def test_a_rank_at_the_end_answers_rank_0_until_it_ends_too():
    rounds, done = [VALUES, STATES, END], []
    world = SimpleNamespace(name="two", rank=1, size=2, broadcast=lambda mine: True)
    world.largest = lambda number: rounds.pop(0)
    world.gather, world.send = lambda value: done.append(value), done.append
    RanksCommunicator(world, lambda replay: {"replay": replay}).end()
    assert done == [None, {"replay": True}] and rounds == []


def test_after_training_rank_0_saves_without_asking_the_others():
    asked = []
    world = SimpleNamespace(name="two", rank=0, size=2, broadcast=asked.append)
    world.largest, world.gather = lambda number: number, lambda value: [value, value]
    world.receive = lambda rank: f"the state of rank {rank}"
    parameters = SimpleNamespace(flat=torch.tensor([1.0]))
    run = SimpleNamespace(optimise=SimpleNamespace(groups={}), parameters=parameters)
    training = JointTraining(run, SimpleNamespace(ranks=world, phase=""), 0)
    training._at_border = True
    assert training.states_of_ranks(replay=False)["ranks"] == [None, "the state of rank 1"]
    training.rollout_start()
    assert training.states_of_ranks(replay=False) == {"size": 2, "ranks": []}
    training._at_border = True
    training.end(None)
    assert training.states_of_ranks(replay=True) == {"size": 2, "ranks": []}
    assert asked == [False]


def test_a_collection_shares_new_episodes_and_ends_at_the_timesteps_that_were_made():
    metrics = SimpleNamespace(recent_episodes=deque(maxlen=9), recent_successes=deque(maxlen=9))
    run = SimpleNamespace(clock=SimpleNamespace(episodes=0), metrics=metrics, timesteps=12)
    world = SimpleNamespace(name="two", rank=0, size=2)
    training = JointTraining(run, SimpleNamespace(ranks=world), 0)
    told, others = [], []
    training.communicator = SimpleNamespace(
        rank=0, gather=lambda mine: told.append(mine) or [mine, others.pop(0)]
    )

    def collect():
        if run.clock.episodes == 0:
            run.clock.episodes = 1
            metrics.recent_episodes.append((5.0, 3))
            metrics.recent_successes.append(None)
        return True

    together = training.wrap_collector(collect)
    others.append((True, (2, [(6.0, 4), (7.0, 5)], [None, 1.0])))
    assert together() and run.clock.episodes == 3
    assert list(metrics.recent_episodes) == [(6.0, 4), (5.0, 3), (7.0, 5)]
    others.append(None)
    assert together() and run.clock.episodes == 3
    others.extend([(False, None), 8])
    assert not together() and run.clock.timesteps == (12 + 8) / 2
    assert told == [(True, (1, [(5.0, 3)], [None])), None, None, 12]


def test_a_run_does_what_it_did_when_ranks_have_met_after_an_update():
    run = SimpleNamespace(activity="an update", clock=SimpleNamespace(iterations=3))
    world = SimpleNamespace(name="two", rank=0, size=2)
    training = JointTraining(run, SimpleNamespace(ranks=world), 0)
    training._statistics, training._at_border = (), False
    training.update_end()
    assert run.activity == "an update" and training._at_border
