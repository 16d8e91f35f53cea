"""Rooms with doors by hand."""

import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

from rlk_toy_environments.doors import DoorsEnv
from rlk_vector_environments.env_state import capture, restore


def test_gymnasium_finds_nothing_wrong():
    check_env(DoorsEnv(refuse=False), skip_render_check=True)


def test_the_right_doors_lead_out_in_as_many_steps_as_there_are_rooms():
    env = DoorsEnv(n_rooms=4)
    room, _ = env.reset(seed=0)
    total, terminated, truncated = 0.0, False, False
    for expected in range(4):
        assert room == expected and not terminated
        room, reward, terminated, truncated, _ = env.step(env.on[room])
        total += reward
    assert (total, terminated, truncated) == (-4.0, True, False)


def test_the_other_open_door_leads_back():
    env = DoorsEnv()
    env.reset(seed=0)
    assert env.step(env.back[0])[0] == 0
    env.step(env.on[0])
    assert env.step(env.on[1])[0] == 2
    assert env.step(env.back[2])[0] == 1


def test_the_mask_has_the_two_doors_of_the_room():
    env = DoorsEnv(n_doors=5)
    for room in range(8):
        env.room = room
        found = env.action_masks()
        assert found.dtype == np.bool_ and found.shape == (5,)
        assert set(np.flatnonzero(found)) == {env.on[room], env.back[room]}


def test_a_closed_door_is_refused_or_does_nothing():
    strict, patient = DoorsEnv(), DoorsEnv(refuse=False)
    closed = int(np.argmin(strict.action_masks()))
    strict.reset(seed=0)
    with pytest.raises(ValueError, match=f"door {closed} of room 0 is closed"):
        strict.step(closed)
    patient.reset(seed=0)
    patient.step(patient.on[0])
    closed = int(np.argmin(patient.action_masks()))
    assert patient.step(closed)[:3] == (1, -1.0, False)


def test_an_episode_is_cut_off_after_its_steps_unless_it_is_over():
    env = DoorsEnv(n_rooms=2, max_steps=2)
    env.reset(seed=0)
    env.step(env.back[0])
    assert env.step(env.back[0])[2:4] == (False, True)
    env.reset()
    assert env.step(env.on[0])[2:4] == (False, False)
    assert env.step(env.on[1])[2:4] == (True, False)


def test_one_number_gives_one_building():
    assert DoorsEnv(building=3).on == DoorsEnv(building=3).on
    assert DoorsEnv(building=3).on != DoorsEnv(building=4).on


def test_a_restored_environment_goes_on_where_it_was():
    env, twin = DoorsEnv(), DoorsEnv()
    env.reset(seed=1)
    env.step(env.on[0])
    twin.reset(seed=2)
    restore(twin, capture(env))
    assert twin.step(twin.on[1]) == env.step(env.on[1])


@pytest.mark.parametrize("wrong", [{"n_rooms": 0}, {"n_doors": 1}, {"max_steps": 0}])
def test_what_makes_no_sense_is_refused(wrong):
    with pytest.raises(ValueError, match="1 or more and n_doors 2 or more"):
        DoorsEnv(**wrong)


def test_an_episode_ends_after_a_hundred_steps_unless_told():
    env = DoorsEnv()
    env.reset(seed=0)
    ends = [env.step(env.back[0])[3] for _ in range(100)]
    assert ends.index(True) == 99
