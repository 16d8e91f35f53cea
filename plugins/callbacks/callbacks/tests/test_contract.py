"""The kernel's contract for callbacks."""

from __future__ import annotations

from rlk_testing import CallbackContract


class TestCheckpoint(CallbackContract):
    component = "checkpoint"
    settings = {"every": 32}


class TestEvaluation(CallbackContract):
    component = "evaluation"
    settings = {"every": 32, "deterministic": False}


class TestSummary(CallbackContract):
    component = "summary"


class TestProgressBar(CallbackContract):
    component = "progress-bar"
