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


class TestMaxEpisodes(CallbackContract):
    component = "max-episodes"
    settings = {"max_episodes": 1000}


class TestStopOnReward(CallbackContract):
    component = "stop-on-reward"
    settings = {"reward_threshold": 1e6}
    given = {"plugins": ("evaluation:every=32", "stop-on-reward")}


class TestStopOnNoImprovement(CallbackContract):
    component = "stop-on-no-improvement"
    settings = {"max_no_improvement_evals": 1000}
    given = {"plugins": ("evaluation:every=32", "stop-on-no-improvement")}
