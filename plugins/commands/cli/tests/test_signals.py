"""What is printed when a signal arrives, and how long a run that is told to end may do nothing."""

from __future__ import annotations

import signal
from types import SimpleNamespace
from typing import Any

import pytest

from rlk_cli import signals
from rlk_cli.signals import Signals


def test_what_a_signal_does_is_broken_between_words_on_a_narrow_terminal(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    printed: list[str] = []
    monkeypatch.setattr(signals, "_print", printed.append)
    monkeypatch.setenv("COLUMNS", "60")
    plan = SimpleNamespace(verbose=1)
    run: Any = SimpleNamespace(plan=plan, stop=lambda reason, hurry: None, activity="", timesteps=0)
    found = Signals(run)
    found._over.set()  # so that nothing watches the run
    found._received(signal.SIGINT, None)
    (text,) = printed
    assert len(text.splitlines()) == 2 and max(map(len, text.splitlines())) <= 60
    said = "SIGINT: the run ends after this iteration; a second signal ends it at once"
    assert " ".join(text.split()) == said


@pytest.mark.parametrize("hook", ["rlk_rollout_start", "rlk_prepare_evaluation"])
def test_where_environments_are_stepped_they_must_not_hang(hook: str) -> None:
    assert signals._patience(hook) == signals.HANGS_SECONDS
    assert signals._patience("rlk_rollout_end") == float("inf")
