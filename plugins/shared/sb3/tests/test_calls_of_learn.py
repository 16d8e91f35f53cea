"""Several calls of `learn`, and calls that are refused."""

from __future__ import annotations

from typing import Any

import pytest

from rlk_sb3 import A2C, DQN


def test_the_target_of_short_calls_moves_as_in_a_long_one() -> None:
    model = DQN("MlpPolicy", "CartPole-v1", learning_starts=40, target_update_interval=100)
    moved = []
    for _ in range(5):
        before = model.agent.run.algorithm.target.flat.clone()
        model.learn(60)
        moved.append(not before.equal(model.agent.run.algorithm.target.flat))
    assert moved == [False, True, False, True, True]


@pytest.mark.parametrize(
    "refused",
    [
        *({"total_timesteps": timesteps} for timesteps in (float("inf"), None, -5)),
        {"total_timesteps": 20, "log_interval": 1.5},
        {"total_timesteps": 20, "tb_log_name": 3},
    ],
)
def test_a_call_that_is_refused_changes_nothing(refused: Any, counting: Any) -> None:
    def noted() -> list[Any]:
        recent = model.agent.run.metrics.recent_episodes
        episodes = [*model.ep_info_buffer], [*recent]
        return [*episodes, model._total_timesteps, model.start_time, model.num_timesteps]

    model = A2C("MlpPolicy", counting()).learn(20)
    before = noted()
    with pytest.raises(ValueError, match=r"timesteps|log_interval|tb_log_name"):
        model.learn(**refused)
    assert before == noted() and before[0] and before[1]
