"""Reports of a run count whole games with their own rewards, not lives with clipped ones."""

from __future__ import annotations

import pytest
from stand_in_game import StandInGame

pytest.importorskip("cv2", reason="OpenCV is an extra")

# Two lives of two actions, one of which `reset` takes; no action is worth over 12.
GAME = {"env": StandInGame, "env.life": 8, "env.fires": False, "plugins": ["atari"]}
ATARI = {"atari.noop_max": 0, "atari.width": 2, "atari.height": 1, "atari.scale": True}
SMALL = {"policy.layers": [4], "n_envs": 2, "n_steps": 8, "nminibatches": 1, "noptepochs": 1}
LENGTH = 3


def test_collections_and_monitors_count_games(rlk_make, tmp_path):
    with rlk_make("ppo2", **GAME, **ATARI, **SMALL, out=str(tmp_path / "run"), verbose=0) as agent:
        agent.learn(64)
        run = agent.run
        assert run.clock.episodes == len(run.metrics.recent_episodes) > 4
        assert {length for _, length in run.metrics.recent_episodes} == {LENGTH}
        returns = [return_ for return_, _ in run.metrics.recent_episodes]
    rows = (tmp_path / "run" / "monitor.csv").read_text().splitlines()[2:]
    assert [float(row.split(",")[0]) for row in rows] == pytest.approx(returns)
    assert {row.split(",")[1] for row in rows} == {str(LENGTH)}
    assert max(map(abs, returns)) > LENGTH, "clipped rewards"


def test_evaluations_count_games(rlk_make):
    from rlk_evaluation.evaluate import evaluate_agent

    with rlk_make("ppo2", **GAME, **ATARI, **SMALL) as agent:
        found = evaluate_agent(agent, 3)
    assert found.lengths == [LENGTH] * 3
