"""Who listens to the life of a run: what becomes of failed writes and of wrong answers."""

from __future__ import annotations

import pytest

from rlk import hookimpl
from rlk.errors import BrokenPlugin, RlkError
from rlk.registry.hooks import LIFECYCLE, Hooks
from rlk.running.failed_writes import FailedWrites
from rlk.running.listeners import look_up_listeners

FULL = OSError("no space left")


class Writes:
    @hookimpl
    def rlk_training_start(self):
        raise FULL

    @hookimpl
    def rlk_prepare_evaluation(self):
        raise FULL

    @hookimpl
    def rlk_should_stop(self):
        raise FULL

    @hookimpl
    def rlk_write_row(self):
        raise FULL

    @hookimpl
    def rlk_step(self):
        raise FULL


class Keeps:
    """Keeps what it cannot write, which is all while `full`."""

    full, kept = False, 0

    def has_unwritten(self, run):
        return self.kept > 0

    @hookimpl
    def rlk_write_row(self):
        self.kept += 1
        self.rlk_training_end()

    @hookimpl
    def rlk_training_end(self):
        if self.full:
            raise FULL
        self.kept = 0


@pytest.fixture
def failed_writes():
    return FailedWrites()


@pytest.fixture
def listeners(failed_writes):
    hooks = Hooks()
    hooks.activate(Writes(), "writer")
    return look_up_listeners(hooks, failed_writes)


def test_every_lifecycle_hook_has_its_listeners(listeners):
    assert list(listeners) == LIFECYCLE
    heard = {hook for hook, found in listeners.items() if found}
    assert heard == {name for name in vars(Writes) if name.startswith("rlk_")}


@pytest.mark.parametrize("hook", ["rlk_should_stop", "rlk_write_row"])
def test_a_write_that_fails_is_noted_with_the_plugin_and_answers_nothing(
    listeners, failed_writes, hook
):
    ((name, listen),) = listeners[hook]
    assert name == "writer"
    assert listen(run=None, row={}) is None
    assert "writer, 1 time: no space left" in str(failed_writes)


def test_what_a_plugin_kept_and_has_written_since_is_not_missing(failed_writes, capsys):
    keeps, hooks = Keeps(), Hooks()
    hooks.activate(keeps, "keeper")
    ((_, write),) = look_up_listeners(hooks, failed_writes)["rlk_write_row"]
    for keeps.full in (True, True, False, True):
        write(run=None, row={})
        assert bool(failed_writes) == keeps.full
    assert "keeper, 1 time:" in str(failed_writes)
    assert capsys.readouterr().err.count("a write failed (keeper)") == 2
    with pytest.raises(RlkError, match="keeper, 1 time"):
        failed_writes.check()
    ((_, end),) = look_up_listeners(hooks, failed_writes)["rlk_training_end"]
    keeps.full = False
    end(run=None, reason=None, failure=None)
    failed_writes.check()


def test_the_first_failure_of_each_writer_is_printed_and_again_once_it_has_written(
    failed_writes, capsys
):
    def printed():
        return capsys.readouterr().err

    failed_writes.note("one", FULL)
    assert "a write failed (one): no space left\nThat does not end" in printed()
    failed_writes.note("other", FULL)
    assert printed() == "\na write failed (other): no space left\n"
    failed_writes.note("one", FULL)
    failed_writes.succeeded("other")
    assert printed() == ""
    failed_writes.note("other", FULL)
    assert "a write failed (other)" in printed()
    assert "other, 2 times:" in str(failed_writes), "what it wrote since is not what failed"


@pytest.mark.parametrize(
    ("hook", "what"),
    [("rlk_training_start", "begin"), ("rlk_prepare_evaluation", "prepare the evaluation")],
)
def test_what_would_be_wrong_without_a_plugin_does_not_begin(listeners, failed_writes, hook, what):
    ((_, listen),) = listeners[hook]
    told = rf"'writer' cannot {what}: no space left\. .* for an installed one: --plugin no:writer"
    with pytest.raises(RlkError, match=told):
        listen(run=None)
    assert not failed_writes


def test_a_write_that_fails_in_a_step_is_raised(listeners, failed_writes):
    ((_, listen),) = listeners["rlk_step"]
    with pytest.raises(OSError, match="no space left"):
        listen(run=None, step=None)
    assert not failed_writes


def test_a_reason_that_is_not_text_is_refused_with_its_plugin(failed_writes):
    class Stops:
        @hookimpl
        def rlk_should_stop(self):
            return 3

    hooks = Hooks()
    hooks.activate(Stops(), "stops")
    ((_, listen),) = look_up_listeners(hooks, failed_writes)["rlk_should_stop"]
    with pytest.raises(BrokenPlugin, match="'stops' answered rlk_should_stop with 3"):
        listen(run=None)
