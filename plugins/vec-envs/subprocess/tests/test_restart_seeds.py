"""With `restart_workers`, new environments have seeds of their own, which a run can repeat."""

from __future__ import annotations

import os
import re
import signal

import numpy as np
import pytest

from rlk_testing.environments import Doomed, Fate, Walk


def test_a_new_episode_has_a_seed_of_its_own_that_follows_from_the_old_one(make):
    def first_places():
        vector = make([Walk, Walk], restart_workers=True)
        seeded = vector.reset(seed=[1, 2])[0].copy()
        os.kill(vector.pids[1], signal.SIGKILL)
        with pytest.warns(RuntimeWarning):
            after = vector.step(np.zeros(2, np.int64))[0].copy()
        return seeded[1].tolist(), after[1].tolist()

    once, again = first_places(), first_places()
    assert once == again and once[0] != once[1]


def test_a_resumed_run_repeats_no_seed_of_a_restart_but_gives_the_same_ones_every_time(make):
    def resumed(states):
        vector = make([Walk, Walk], restart_workers=True)
        vector.reset(seed=[1, 2])
        if states is not None:
            vector.set_state(states)
        os.kill(vector.pids[1], signal.SIGKILL)
        with pytest.warns(RuntimeWarning, match="lost") as warned:
            after = vector.step(np.zeros(2, np.int64))[0].copy()
        told = "".join(str(one.message) for one in warned)
        assert ("Seeds of the latest reset: 2." in told) == (states is None)
        return after[1].tolist()

    saved = []
    for _ in range(2):
        vector = make([Walk, Walk])
        vector.reset(seed=[1, 2])
        for _ in range(1 + len(saved)):
            vector.step(np.zeros(2, np.int64))
        saved.append(vector.get_state())
    places = [resumed(None), resumed(saved[0]), resumed(saved[1])]
    assert places[0] != places[1] != places[2] != places[0]
    assert resumed(saved[1]) == places[2]


def test_what_is_lost_later_is_named_with_the_seed_of_its_new_episodes(make):
    vector = make([Doomed], restart_workers=True)
    vector.reset(seed=[7])
    seeds = []
    for _ in range(3):
        with pytest.warns(RuntimeWarning, match="lost") as warned:
            vector.step(np.array([Fate.KILL]))
        told = "".join(str(one.message) for one in warned)
        seeds += re.findall(r"Seeds of the latest reset: (\d+)", told)
        vector.step(np.array([Fate.GO]))
    assert seeds[0] == "7" and len(set(seeds)) == 3
    assert all(int(seed) < 2**31 for seed in seeds), "some environments take no larger ones"
