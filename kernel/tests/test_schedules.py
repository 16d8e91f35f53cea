"""The numbers that steer training: schedules, and values that would spoil the parameters."""

from __future__ import annotations

import pytest
import torch

from rlk.errors import RlkError


def test_a_scheduled_number_is_one_tensor_that_is_refilled(make):
    run = make().run

    value = run.schedule("clip_range", lambda remaining: remaining)
    run.clock.total_timesteps, run.clock.timesteps = 100, 25
    assert value.item() == 1.0
    run.refresh_schedules()
    assert value.item() == 0.75 and value.dim() == 0


def test_a_number_that_is_not_scheduled_is_filled_once_and_for_all(make):
    run = make().run
    value = run.schedule("width", 2)
    assert value.item() == 2.0 and value.dim() == 0 and value.dtype == torch.float32
    value.fill_(5.0)
    run.refresh_schedules()
    assert value.item() == 5.0


def test_a_number_that_steers_training_may_be_another_one_from_now_on(make):
    run = make().run
    run.clock.total_timesteps, run.clock.timesteps = 100, 25
    clip_range = run.schedule("clip_range", lambda remaining: remaining)
    width = run.schedule("width", 2)
    (group,) = run.optimise.groups
    run.reschedule("clip_range", 0.3)
    run.reschedule("width", lambda remaining: 10 * remaining)
    run.reschedule_rate(group, lambda remaining: remaining / 100)
    assert (float(clip_range), float(width)) == pytest.approx((0.3, 7.5))
    run.clock.timesteps = 50
    run.refresh_schedules()
    assert (float(clip_range), float(width)) == pytest.approx((0.3, 5.0))
    assert run.scheduled()["train/learning_rate"] == pytest.approx(0.005)


def test_a_number_that_is_not_there_is_named_with_those_that_are(make):
    run = make().run
    run.schedule("clip_range", 0.2)
    with pytest.raises(RlkError, match=r"unknown scheduled number 'cliprange'.*'clip_range'"):
        run.reschedule("cliprange", 0.1)
    with pytest.raises(RlkError, match=r"unknown parameter group 'polisy'\. Known: value"):
        run.reschedule_rate("polisy", 0.1)


@pytest.mark.parametrize("wrong", [float("nan"), float("inf"), 1e300, None, "fast"])
def test_a_number_that_is_not_finite_is_refused_and_changes_nothing(make, wrong):
    run = make().run
    run.clock.total_timesteps = 100
    clip_range = run.schedule("clip_range", lambda remaining: remaining)
    (group,) = run.optimise.groups
    for value in (wrong, lambda remaining: wrong):
        with pytest.raises(RlkError, match=r"the learning rate of group 'value' would be .*at l"):
            run.reschedule_rate(group, value)
        with pytest.raises(RlkError, match=r"the scheduled number 'clip_range' would be "):
            run.reschedule("clip_range", value)
    run.clock.timesteps = 25
    run.refresh_schedules()
    assert clip_range.item() == 0.75 and run.optimise.learning_rates() == {
        "learning_rate": pytest.approx(0.05)
    }
    run.reschedule("clip_range", -0.5)  # may be below 0, as a rate may not
    with pytest.raises(RlkError, match=r"the learning rate of group 'value' would be -0\.5\."):
        run.reschedule_rate(group, -0.5)


def test_parameters_are_good_after_a_schedule_has_given_no_number(make):
    agent = make(learning_rate=lambda remaining: 0.1 if remaining > 0.5 else float("nan"))
    with pytest.raises(RlkError, match="the learning rate of group 'value' would be nan"):
        agent.learn(100)
    assert agent.num_timesteps == 52 and agent.run.parameters.flat.isfinite().all()


def test_scheduled_numbers_are_logged_with_the_digits_that_they_were_set_with(make):
    run = make(learning_rate=1e-6).run
    clip_range = run.schedule("clip_range", 0.2)
    third = run.schedule("third", lambda remaining: remaining / 3)
    found = run.scheduled()
    assert found["train/learning_rate"] == 1e-6 and found["train/clip_range"] == 0.2
    assert found["train/third"] == 0.33333334  # in float32, 1/3 is no other number
    assert float(clip_range) != 0.2 and clip_range.dtype == third.dtype == torch.float32
    assert torch.tensor(found["train/third"]).equal(third)


def test_two_scheduled_numbers_of_one_name_are_refused(make):
    run = make().run
    run.schedule("clip_range", 0.2)
    with pytest.raises(RlkError, match="two scheduled numbers called 'clip_range'"):
        run.schedule("clip_range", 0.3)
