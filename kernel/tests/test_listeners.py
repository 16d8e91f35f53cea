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
