from __future__ import annotations

import pytest
from torch import nn

from rlk import hookimpl
from rlk.errors import BrokenPlugin, RlkError
from rlk.records import Loss, Update
from rlk.running.modes import Modes


class Hears:
    """Writes down every lifecycle hook in order."""

    def __init__(self, stops_after=None, fails_in=""):
        self.heard, self.stops_after, self.fails_in = [], stops_after, fails_in
        self.reasons, self.failures = [], []

    def _hear(self, name):
        self.heard.append(name)
        if name == self.fails_in:
            raise RuntimeError(f"in {name}")

    @hookimpl
    def rlk_training_start(self):
        self._hear("training_start")

    @hookimpl
    def rlk_rollout_start(self):
        self._hear("rollout_start")

    @hookimpl
    def rlk_rollout_end(self):
        self._hear("rollout_end")

    @hookimpl
    def rlk_update_end(self):
        self._hear("update_end")

    @hookimpl
    def rlk_should_stop(self, run):
        stops = self.stops_after is not None and run.clock.iterations >= self.stops_after
        return "enough" if stops else None

    @hookimpl
    def rlk_training_end(self, reason, failure):
        self.heard.append("training_end")
        self.reasons.append(reason)
        self.failures.append(failure)


def test_a_wrapper_of_the_collector_that_forgets_its_answer_is_an_error(make):
    class Forgets:
        @hookimpl
        def rlk_wrap_collector(self, run):
            return lambda collect: lambda: collect() and None

    said = r"rlk_wrap_collector put around it: collect\(\) returned None\. It must return True, or"
    with pytest.raises(BrokenPlugin, match=said):
        make(Forgets()).learn(8)


def test_what_is_refused_while_a_run_trains_has_the_exit_code_of_a_failed_run(make):
    class Forgets:
        @hookimpl
        def rlk_should_stop(self, run):
            return run.clock.iterations

    hears = Hears()
    with pytest.raises(BrokenPlugin) as raised:
        make(Forgets(), hears).learn(8)
    assert raised.value.exit_code == 1 and BrokenPlugin("").exit_code == 2
    assert hears.failures == [raised.value]


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (lambda loss: None, r"rlk_wrap_loss put around it, returned NoneType"),
        (lambda loss: Loss(loss.value.repeat(3)), r"is of shape \(3,\)\. It must be a tensor with"),
        (lambda loss: Loss(loss.value.item()), r"is float\. It must be .*do not call item"),
    ],
)
def test_a_loss_that_is_no_single_tensor_is_an_error(make, wrong, said):
    class Wraps:
        @hookimpl
        def rlk_wrap_loss(self, run, group):
            return lambda loss_fn: lambda *args: wrong(loss_fn(*args))

    with pytest.raises(RlkError, match=said):
        make(Wraps()).learn(8)


def test_an_iteration_is_a_collection_and_the_updates_that_follow_it(make):
    hears = Hears()
    make(hears).learn(8)
    iteration = ["rollout_start", "rollout_end", "update_end"]
    assert hears.heard == ["training_start", *iteration, *iteration, "training_end"]
    assert hears.reasons == [None]


def test_an_iteration_is_counted_when_its_end_is_told(make):
    class Counts:
        told = []

        @hookimpl
        def rlk_update_end(self, run):
            self.told.append(run.clock.iterations)

    counts = Counts()
    make(counts).learn(12)
    assert counts.told == [1, 2, 3]


def test_a_run_ends_with_the_first_iteration_that_reaches_its_timesteps(make):
    agent = make()
    agent.learn(9)
    assert agent.num_timesteps == 12


def test_no_timesteps_are_no_iteration(make):
    hears = Hears()
    make(hears).learn(0)
    assert hears.heard == ["training_start", "training_end"]


def test_a_reason_to_stop_ends_the_run_at_the_border_and_is_told(make):
    hears = Hears(stops_after=2)
    agent = make(hears)
    assert agent.learn_until(1000) == "enough"
    assert agent.num_timesteps == 8
    assert hears.reasons == ["enough"] and hears.failures == [None]


def test_a_run_can_be_asked_to_stop_and_keeps_the_first_reason(make):
    class Asks:
        @hookimpl
        def rlk_rollout_end(self, run):
            run.stop("first")
            run.stop("second")

    agent = make(Asks())
    assert agent.learn_until(1000) == "first"
    assert agent.num_timesteps == 4 and agent.run.clock.updates == 1


def test_the_plugin_that_stopped_a_run_is_named_whoever_was_activated_since(make):
    class Watches:
        @hookimpl(tryfirst=True)
        def rlk_step(self):
            pass

    class Stops:
        @hookimpl
        def rlk_training_start(self, run):
            run.hooks.activate(Watches(), "watcher")

        @hookimpl
        def rlk_step(self):
            return False

    assert make(Stops()).learn_until(100) == "plugin 'Stops-0' (rlk_step returned False)"


def test_a_stop_does_not_outlive_its_training(make):
    class StopsOnce:
        done = False

        @hookimpl
        def rlk_update_end(self, run):
            if not self.done:
                self.done = True
                run.stop("once", hurry=True)

    agent = make(StopsOnce())
    agent.learn(100)
    assert agent.num_timesteps == 4 and agent.run.hurries
    agent.learn(20)
    assert agent.num_timesteps == 20 and not agent.run.hurries


def test_of_several_reasons_to_stop_the_first_is_told(make):
    class Stops:
        def __init__(self, reason):
            self.reason = reason

        @hookimpl
        def rlk_should_stop(self, run):
            return self.reason if run.timesteps else None

    hears = Hears()
    make(Stops("first"), Stops("second"), hears).learn(100)
    assert hears.reasons == ["first"]


def test_a_failed_write_does_not_outlive_its_training(make):
    class FailsOnce:
        failed = False

        @hookimpl
        def rlk_update_end(self):
            if not self.failed:
                self.failed = True
                raise OSError("the disk is full")

    agent = make(FailsOnce())
    with pytest.raises(RlkError, match="the disk is full"):
        agent.learn(8)
    agent.learn(8)


def test_a_policy_is_in_the_mode_to_act_after_an_update_that_failed(make):
    policy, modes = nn.Dropout(), []

    class Fails:
        @hookimpl
        def rlk_wrap_update(self, run):
            def fails(batch, optimise):
                modes.append(policy.training)
                raise RuntimeError("no update")

            return lambda update: fails

    agent = make(Fails())
    agent.run.modes = Modes(policy)
    with pytest.raises(RuntimeError, match="no update"):
        agent.learn(100)
    assert [*modes, policy.training] == [True, False]


@pytest.mark.parametrize("where", ["training_start", "rollout_start", "rollout_end", "update_end"])
def test_the_end_of_a_training_is_told_also_after_an_error(make, where):
    hears = Hears(fails_in=where)
    with pytest.raises(RuntimeError, match=where) as raised:
        make(hears).learn(8)
    assert hears.heard[-1] == "training_end"
    assert hears.reasons == ["an error"] and hears.failures == [raised.value]


def test_who_had_begun_is_told_of_the_end_if_another_one_cannot_begin(make):
    begun, hears = Hears(), Hears(fails_in="training_start")
    with pytest.raises(RuntimeError, match="training_start"):
        make(begun, hears).learn(8)
    assert begun.heard == ["training_start", "training_end"] and begun.reasons == ["an error"]


class FailsAtTheEnd:
    @hookimpl(tryfirst=True)
    def rlk_training_end(self):
        raise ValueError("bad at the end")


def test_a_listener_that_fails_at_the_end_keeps_no_other_from_being_told(make):
    hears = Hears()
    with pytest.raises(ValueError, match=r"^bad at the end\n") as raised:
        make(FailsAtTheEnd(), hears, FailsAtTheEnd()).learn(8)
    assert hears.heard[-1] == "training_end"
    assert hears.reasons == hears.failures == [None]
    assert raised.value.__notes__ == ["After that, ValueError was raised: bad at the end"]


def test_a_listener_that_fails_at_the_end_does_not_hide_the_error_that_ended_training(make):
    hears = Hears(fails_in="update_end")
    with pytest.raises(RuntimeError, match=r"^in update_end\n") as raised:
        make(FailsAtTheEnd(), hears).learn(8)
    assert hears.reasons == ["an error"]
    assert raised.value.__notes__ == ["After that, ValueError was raised: bad at the end"]


def test_an_error_that_the_program_handles_meanwhile_is_none_of_the_trainings(make):
    outer = KeyError("the program's own")
    try:
        raise outer
    except KeyError:
        with pytest.raises(ValueError, match="bad at the end"):
            make(FailsAtTheEnd()).learn(8)
    assert not hasattr(outer, "__notes__")


def test_updates_are_counted_and_fed_back_to_the_storage(make):
    agent = make()
    fed = []
    agent.run.storage.feedback = lambda batch, update: fed.append((batch, update))
    agent.learn(20)
    assert agent.run.clock.updates == len(fed) == 5
    assert all(isinstance(update, Update) for _, update in fed)


def test_schedules_are_filled_before_every_collection(make):
    agent = make(learning_rate=lambda remaining: 0.4 * remaining)
    rate = agent.run.optimise.groups["value"].learning_rate
    seen = []

    collect = agent.run.collect
    agent.run.collect = lambda: (seen.append(round(rate.item(), 6)), collect())[1]
    agent.learn(16)
    assert seen == [0.4, 0.3, 0.2, 0.1]


def test_a_second_training_begins_its_schedules_anew_or_continues(make):
    seen = []

    class Looks:
        @hookimpl
        def rlk_rollout_start(self, run):
            seen.append(run.clock.progress())

    agent = make(Looks())
    for keywords in ({}, {}, {"reset_num_timesteps": False}):
        agent.learn(16, **keywords)
    assert seen == [0.0, 0.25, 0.5, 0.75] * 2 + [0.5, 0.625, 0.75, 0.875]
    assert agent.num_timesteps == 32


def test_a_wrapper_around_updates_and_losses_is_called_instead(make):
    called = []

    class Wraps:
        @hookimpl
        def rlk_wrap_update(self, run):
            return lambda update: lambda *args: (called.append("update"), update(*args))[1]

        @hookimpl
        def rlk_wrap_loss(self, run, group):
            assert group == "value"
            return lambda loss: lambda *args: (called.append("loss"), loss(*args))[1]

        @hookimpl
        def rlk_wrap_collector(self, run):
            return lambda collect: lambda: (called.append("collect"), collect())[1]

        @hookimpl
        def rlk_wrap_add(self, run):
            return lambda add: lambda step: (called.append("add"), add(step))[1]

    steps = make(Wraps()).learn(8).run.algorithm.steps_per_collect()
    assert called == ["collect", *["add"] * steps, "update", "loss"] * 2


def test_everybody_is_asked_before_every_iteration_and_once_more_at_the_end(make):
    class Asked:
        def __init__(self):
            self.at = []

        @hookimpl
        def rlk_should_stop(self, run):
            self.at.append((run.clock.iterations, run.stop_asked))
            return "enough" if run.clock.iterations == 2 else None

    asked = Asked()
    assert make(asked).learn_until(40) == "enough"
    assert asked.at == [(0, None), (1, None), (2, None), (2, "enough")]


def test_a_training_that_a_listener_ends_within_a_collection_asks_once_more(make):
    class Asked:
        def __init__(self):
            self.times = 0

        @hookimpl
        def rlk_should_stop(self):
            self.times += 1

    asked = Asked()
    agent = make(asked)
    assert agent.learn_until(40, callback=lambda run: run.timesteps < 6)
    assert (asked.times, agent.run.clock.iterations) == (3, 1), "before, after one, and at the end"
