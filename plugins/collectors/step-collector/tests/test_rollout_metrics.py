from __future__ import annotations

from collections import deque
from types import SimpleNamespace

import pytest

from rlk.running.clock import Clock
from rlk_step_collector import rollout_metrics
from rlk_step_collector.rollout_metrics import RolloutMetrics


@pytest.fixture
def now(monkeypatch):
    """now(seconds) sets the time."""
    at = [100.0]
    monkeypatch.setattr(rollout_metrics.time, "perf_counter", lambda: at[0])
    return lambda seconds: at.__setitem__(0, seconds)


def run_with(*episodes, successes=(), **clock):
    metrics = SimpleNamespace(recent_episodes=deque(episodes), recent_successes=deque(successes))
    timesteps = clock.get("timesteps", 0)
    return SimpleNamespace(clock=Clock(100, **clock), metrics=metrics, timesteps=timesteps)


def row_of(made, run, **row):
    made.rlk_log(run, row)
    return row


def test_a_row_has_the_means_of_the_latest_episodes():
    run = run_with((2.0, 1), (4.0, 3), (9.0, 8), episodes=7)
    row = row_of(RolloutMetrics(run), run)
    assert row["rollout/ep_rew_mean"] == 5.0 and row["rollout/ep_len_mean"] == 4.0
    assert row["time/episodes"] == 7


def test_the_rate_of_success_is_of_the_episodes_that_tell_theirs():
    run = run_with((2.0, 1), successes=(True, None, False, False))
    assert row_of(RolloutMetrics(run), run)["rollout/success_rate"] == pytest.approx(1 / 3)
    run = run_with((2.0, 1), successes=(None,))
    assert "rollout/success_rate" not in row_of(RolloutMetrics(run), run)


def test_a_row_without_episodes_has_no_means():
    run = run_with()
    assert not any(tag.startswith("rollout/") for tag in row_of(RolloutMetrics(run), run))


def test_speed_is_measured_from_row_to_row_and_from_the_start_of_training(now):
    run = run_with()
    made = RolloutMetrics(run)
    now(110.0)
    made.rlk_training_start(run)
    run.timesteps = 40
    now(112.0)
    row = row_of(made, run)
    assert row["time/fps"] == 20.0 and row["time/time_elapsed"] == 12.0
    run.timesteps = 50
    now(113.0)
    assert row_of(made, run)["time/fps"] == 10.0


def test_no_time_at_all_is_no_division_by_zero(now):
    run = run_with()
    made = RolloutMetrics(run)
    run.timesteps = 8
    assert "time/fps" not in row_of(made, run)


def test_its_figures_come_before_what_is_in_the_row(now):
    run = run_with((1.0, 1), iterations=2)
    made = RolloutMetrics(run)
    run.timesteps = 8
    now(101.0)
    row = row_of(made, run, **{"train/loss": 0.5})
    assert list(row) == [
        "rollout/ep_rew_mean",
        "rollout/ep_len_mean",
        "time/fps",
        "time/iterations",
        "time/time_elapsed",
        "time/total_timesteps",
        "time/episodes",
        "train/loss",
    ]
    assert row["time/iterations"] == 2 and row["time/total_timesteps"] == 8


def test_rows_of_a_run_have_them(rlk_make, rlk_stand_in_kernel):
    from rlk import hookimpl
    from rlk_step_collector.component import component

    class Keeps:
        @hookimpl
        def rlk_write_row(self, row):
            self.row = dict(row)

    keeps = Keeps()
    rlk_stand_in_kernel.registries.collectors.register("steps", component)
    settings = {"env": "rlk_testing.environments:DiscreteMatch", "plugins": [keeps]}
    rlk_make("stand-in", kernel=rlk_stand_in_kernel, collector="steps", **settings).learn(16)
    assert keeps.row["rollout/ep_len_mean"] == 8.0 and keeps.row["time/total_timesteps"] == 16
    assert keeps.row["train/n_updates"] == 4


def test_a_row_without_a_step_since_the_previous_one_has_no_speed(now):
    run = run_with()
    made = RolloutMetrics(run)
    run.timesteps = 40
    now(102.0)
    assert row_of(made, run)["time/fps"] == 20.0
    now(110.0)
    row = row_of(made, run)
    assert "time/fps" not in row and row["time/total_timesteps"] == 40
    run.timesteps = 60
    now(111.0)
    assert row_of(made, run)["time/fps"] == 20.0
