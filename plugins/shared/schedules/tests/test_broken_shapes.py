"""Entry points of schedules that cannot be used: the error says whose they are, and why."""

from __future__ import annotations

from importlib.metadata import EntryPoint

import pytest

import rlk
from rlk.errors import PlanError
from rlk_schedules import text


@pytest.mark.parametrize(
    ("place", "said"),
    [
        ("acme_absent:Cosine", "ModuleNotFoundError: No module named 'acme_absent'"),
        ("rlk_schedules:Cosine", "AttributeError: .*'Cosine'"),
        ("rlk_schedules:as_schedule", "rlk_schedules:as_schedule is not derived from Schedule"),
        (
            "rlk_schedules.parse:UserFunction",
            "rlk_schedules.parse:UserFunction is not derived from",
        ),
        ("rlk_schedules:Linear", "its class has the name 'linear'"),
    ],
)
def test_a_broken_schedule_is_named_with_what_is_wrong(
    monkeypatch: pytest.MonkeyPatch, place: str, said: str
) -> None:
    points = [EntryPoint("mine", place, text.GROUP)]
    monkeypatch.setattr(text, "entry_points", lambda group: points)
    with pytest.raises(PlanError, match=rf"learning_rate.*schedule 'mine'.* is broken: {said}"):
        rlk.make("ppo2", learning_rate="mine_0.001")
