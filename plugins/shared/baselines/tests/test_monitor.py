"""`Monitor` of Stable Baselines 2.10: what makes an episode, and its columns."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest

from rlk.errors import RlkError
from rlk_baselines.bench import Monitor
from rlk_baselines.bench.monitor import load_results


def played(env: Monitor, steps: int, **keywords: Any) -> list[dict[str, Any]]:
    """The infos of some steps after a reset."""
    env.reset(**keywords)
    return [env.step(0)[3] for _ in range(steps)]


def test_keywords_of_a_reset_are_columns_of_its_episode(counting: Any, tmp_path: Path) -> None:
    class Levels(counting):  # type: ignore[misc]
        def reset(self, level: int, other: int = 0) -> Any:
            self.length = level
            return super().reset()

    env = Monitor(Levels(), str(tmp_path), reset_keywords=("level",), info_keywords=("steps",))
    assert played(env, 2, level=2)[-1]["episode"]["level"] == 2
    assert played(env, 1, level=1, other=5)[-1]["episode"]["level"] == 1
    with pytest.raises(ValueError, match="reset_keywords names 'level', so pass it"):
        env.reset()
    env.close()
    table = load_results(str(tmp_path))
    assert table[["r", "level", "steps"]].to_numpy().tolist() == [[2, 2, 2], [1, 1, 1]]


def test_an_episode_that_was_cut_off_by_a_reset_does_not_count(counting: Any) -> None:
    env = Monitor(counting(), None)
    played(env, 2)
    episode = played(env, 3)[-1]["episode"]
    assert (episode["r"], episode["l"]) == (3.0, 3)
    assert (env.get_episode_rewards(), env.get_total_steps()) == ([3.0], 5)
    assert env.get_episode_times() == [episode["t"]]


def test_a_lost_life_is_no_episode_and_needs_a_reset(counting: Any) -> None:
    class Lives(counting):  # type: ignore[misc]
        def step(self, action: Any) -> Any:
            *rest, info = super().step(action)
            return *rest, {**info, "goes_on": True}

    env = Monitor(Lives(), None)
    assert "episode" not in played(env, 3)[-1] and env.get_episode_rewards() == []
    with pytest.raises(RuntimeError, match="this episode is over"):
        env.step(0)


def test_a_clock_that_is_set_back_does_not_turn_episodes_around(
    counting: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    env = Monitor(counting(1), None)
    played(env, 1)
    an_hour_ago = time.time() - 3600.0
    monkeypatch.setattr(time, "time", lambda: an_hour_ago)
    played(env, 1)
    first, second = env.get_episode_times()
    assert 0.0 <= first <= second


def test_an_info_that_lacks_a_key_of_info_keywords_is_named(counting: Any) -> None:
    env = Monitor(counting(1), None, info_keywords=("wind",))
    with pytest.raises(KeyError) as caught:
        played(env, 1)
    assert isinstance(caught.value, RlkError)
    assert str(caught.value).startswith("monitor: info_keywords names 'wind'")
    assert "['nested', 'steps']" in str(caught.value)


def test_a_restored_monitor_goes_on_in_the_middle_of_an_episode(counting: Any) -> None:
    class Levels(counting):  # type: ignore[misc]
        def reset(self, level: int = 0) -> Any:
            return super().reset()

    env, again = (Monitor(Levels(), None, reset_keywords=("level",)) for _ in range(2))
    played(env, 3, level=1)
    played(env, 2, level=2)
    again.set_state(env.get_state())
    again.env.reset()
    for _ in range(3):
        episode = again.step(0)[3].get("episode")
    assert (episode["r"], episode["l"], again.get_total_steps()) == (5.0, 5, 8)
    assert episode["level"] == 2
    assert again.get_episode_rewards() == [3.0, 5.0]


def test_only_the_row_is_rounded(counting: Any) -> None:
    env = Monitor(counting(1, reward=1 / 3), None)
    assert played(env, 1)[-1]["episode"]["r"] == 0.333333
    assert env.get_episode_rewards() == [1 / 3]
