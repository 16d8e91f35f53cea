"""Evaluation: fair shares of episodes, and figures by hand."""

from __future__ import annotations

import warnings
from types import SimpleNamespace
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.vector import AutoresetMode, SyncVectorEnv

from rlk.episode_ends import LOST
from rlk.errors import EnvironmentFailed, NotFinite
from rlk.records import Act
from rlk_evaluation import evaluate as module
from rlk_evaluation.evaluate import Evaluation, evaluate_run, play_episodes
from rlk_testing.stand_ins import stand_in_kernel

WALK = "rlk_testing.environments:Walk"
KERNEL = stand_in_kernel(discover=True)


class Fixed(gym.Env[Any, Any]):
    """Episodes of a fixed length with a fixed reward per step; even episodes are a success."""

    observation_space = gym.spaces.Box(-1.0, 1.0, (1,))
    action_space = gym.spaces.Discrete(2)

    def __init__(self, length: int, reward: float, tells: bool = False) -> None:
        self.length, self.reward, self.tells, self.episode = length, reward, tells, -1

    def reset(self, *, seed: Any = None, options: Any = None) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        self.seed, self.steps = seed, 0
        self.episode += 1
        return np.zeros(1, np.float32), {}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        self.steps += 1
        info = {"is_success": self.episode % 2 == 0} if self.tells else {}
        over = self.steps == self.length
        return np.zeros(1, np.float32), self.reward, False, over, info


def vector(*envs: gym.Env[Any, Any]) -> SyncVectorEnv:
    made = [lambda env=env: env for env in envs]
    return SyncVectorEnv(made, autoreset_mode=AutoresetMode.SAME_STEP)


def still(observation: Any, state: Any, start: Any) -> tuple[Any, Any]:
    return np.zeros(len(observation), np.int64), state


def test_each_environment_plays_its_share_whatever_its_episodes_length() -> None:
    result = play_episodes(still, vector(Fixed(1, 1.0), Fixed(50, 1.0)), 5)
    # Counted as they end, five short ones would have come first.
    assert sorted(result.returns) == [1.0, 1.0, 1.0, 50.0, 50.0]
    assert sorted(result.lengths) == [1, 1, 1, 50, 50]


class Lost(Fixed):
    """Every second episode breaks off in its second step, or with `always` every one."""

    always = False

    def step(self, action: Any) -> Any:
        observation, reward, _, over, info = super().step(action)
        if self.steps == 2 and (self.always or self.episode % 2 == 0):
            return observation, 0.0, False, True, {LOST: True}
        return observation, reward, False, over, info


def test_an_episode_that_broke_off_is_not_counted_and_another_one_is_played() -> None:
    told: list[tuple[float, int]] = []
    result = play_episodes(
        still, vector(Lost(4, 1.0), Fixed(3, 1.0)), 5, on_episode=lambda *one: told.append(one)
    )
    assert sorted(told) == sorted(zip(result.returns, result.lengths, strict=True))
    assert sorted(told) == [(3.0, 3)] * 2 + [(4.0, 4)] * 3


def test_an_evaluation_whose_episodes_all_break_off_ends() -> None:
    env = Lost(4, 1.0)
    env.always = True
    with pytest.raises(EnvironmentFailed, match="20 episodes of an evaluation in a row broke off"):
        play_episodes(still, vector(env), 1)


def test_only_episodes_that_break_off_one_after_the_other_end_an_evaluation() -> None:
    result = play_episodes(still, vector(Lost(4, 1.0)), 25)
    assert result.returns == [4.0] * 25, "and as many broke off between them"


def test_an_environment_that_has_played_its_share_may_break_off_as_often_as_it_likes() -> None:
    class LostAfterOne(Lost):
        def step(self, action: Any) -> Any:
            self.always = self.episode > 1
            return super().step(action)

    result = play_episodes(still, vector(Fixed(100, 1.0), LostAfterOne(3, 1.0)), 2)
    assert sorted(result.returns) == [3.0, 100.0]


def test_more_environments_than_episodes_leave_some_out() -> None:
    result = play_episodes(still, vector(Fixed(3, 1.0), Fixed(1, 1.0)), 1)
    assert result.returns == [3.0]


def test_mean_and_standard_deviation_are_over_the_episodes() -> None:
    result = Evaluation([1.0, 3.0], [2, 4])
    assert (result.mean_return, result.std_return, result.mean_length) == (2.0, 1.0, 3.0)
    assert result.success_rate is None


def test_successes_are_counted_where_the_environment_tells_them() -> None:
    result = play_episodes(still, vector(Fixed(2, 1.0, tells=True), Fixed(3, 1.0)), 6)
    # The second environment tells nothing: three episodes of the first, of which two are even.
    assert sorted(result.successes) == [False, True, True]
    assert result.success_rate == pytest.approx(2 / 3)


@pytest.mark.parametrize(
    ("told", "counted"), [(None, []), (np.array([True]), [1.0] * 4), (0.25, [0.25] * 4)]
)
def test_a_success_that_is_none_is_not_told_and_one_in_part_counts_in_part(
    told: Any, counted: list[float]
) -> None:
    class Tells(Fixed):
        def step(self, action: Any) -> Any:
            *rest, info = super().step(action)
            return *rest, {**info, "is_success": told}

    assert play_episodes(still, vector(Tells(2, 1.0), Tells(3, 1.0)), 4).successes == counted


def test_a_monitors_returns_win_over_rewards_that_were_changed_on_the_way() -> None:
    class Monitored(Fixed):
        def step(self, action: Any) -> Any:
            *rest, over, info = super().step(action)
            return *rest, over, {"episode": {"r": 77.0, "l": 9}} if over else info

    result = play_episodes(still, vector(Monitored(2, 0.1), Fixed(2, 0.5)), 2)
    assert sorted(zip(result.returns, result.lengths, strict=True)) == [(1.0, 2), (77.0, 2)]


@pytest.mark.parametrize("own", [5, "x", {"id": 3}])
def test_an_environments_own_key_episode_is_not_a_monitors(own: Any) -> None:
    class Counter(Fixed):
        def step(self, action: Any) -> Any:
            *rest, info = super().step(action)
            return *rest, {**info, "episode": own}

    result = play_episodes(still, vector(Counter(2, 0.5)), 2)
    assert (result.returns, result.lengths) == ([1.0, 1.0], [2, 2])


def test_seeds_are_for_the_first_reset_of_each() -> None:
    envs = Fixed(100, 1.0), Fixed(100, 1.0)
    seen = []

    def looks(*given: Any) -> Any:
        seen.append([one.seed for one in envs])
        return still(*given)

    play_episodes(looks, vector(*envs), 2, seeds=[5, 9])
    assert seen == [[5, 9]] * 100


def test_every_episode_that_counts_is_told() -> None:
    told = []
    play_episodes(
        still,
        vector(Fixed(2, 1.0), Fixed(3, 2.0)),
        2,
        on_episode=lambda return_, length: told.append((return_, length)),
    )
    assert told == [(2.0, 2), (6.0, 3)]


def test_an_episode_that_may_never_end_is_warned_of_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "LONG_EPISODE", 3)
    with pytest.warns(UserWarning, match="not ended after 3 steps.*wrappers:TimeLimit") as warned:
        assert play_episodes(still, vector(Fixed(3, 1.0), Fixed(9, 1.0)), 2).lengths == [3, 9]
    assert len(warned) == 1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        play_episodes(still, vector(Fixed(3, 1.0)), 2)


def test_a_reward_that_is_no_number_is_named() -> None:
    with pytest.raises(NotFinite, match="environment 1"):
        play_episodes(still, vector(Fixed(2, 1.0), Fixed(2, float("nan"))), 2)


@pytest.mark.parametrize("spoilt_at", [0, 1])
def test_an_observation_that_is_no_number_is_named_and_no_policy_acts_on_it(spoilt_at: int) -> None:
    class Spoilt(Fixed):
        def reset(self, **given: Any) -> Any:
            observation, info = super().reset(**given)
            return observation + (np.nan if spoilt_at == 0 else 0.0), info

        def step(self, action: Any) -> Any:
            observation, *rest = super().step(action)
            return observation + (np.nan if self.steps == spoilt_at else 0.0), *rest

    def sees(observation: Any, *given: Any) -> Any:
        assert np.isfinite(observation).all()
        return still(observation, *given)

    with pytest.raises(NotFinite, match=r"environment 1 gave nan in observation\[0\]. Correct"):
        play_episodes(sees, vector(Fixed(3, 1.0), Spoilt(3, 1.0)), 2)


def test_no_episode_is_no_evaluation() -> None:
    with pytest.raises(ValueError, match="at least 1"):
        play_episodes(still, vector(Fixed(2, 1.0)), 0)


def test_a_state_is_handed_from_step_to_step() -> None:
    class Counts:
        starts: list[Any] = []

        def __call__(self, observation: Any, state: Any, start: Any) -> Any:
            self.starts.append(start.tolist())
            return np.zeros(1, np.int64), (state or 0) + 1

    counts = Counts()
    play_episodes(counts, vector(Fixed(2, 1.0)), 2)
    assert counts.starts == [[True], [False], [True], [False]]


def test_more_episodes_are_played_until_there_are_enough_steps() -> None:
    result = play_episodes(still, vector(Fixed(2, 1.0), Fixed(3, 1.0)), 1, least_steps=8)
    # 2 steps are too few, and so are 7 with an episode more in each.
    assert sorted(result.lengths) == [2, 2, 2, 3, 3]
    assert len(play_episodes(still, vector(Fixed(2, 1.0)), 1, least_steps=2).lengths) == 1


def test_the_end_of_a_life_is_no_episode() -> None:
    class Lives(Fixed):
        def step(self, action: Any) -> Any:
            *rest, over, info = super().step(action)
            return *rest, over, {**info, "goes_on": self.episode % 2 == 0} if over else info

    result = play_episodes(still, vector(Lives(2, 1.0)), 2)
    assert (result.returns, result.lengths) == ([4.0, 4.0], [4, 4]), "each of two lives"


class Noted:
    """An actor that notes what it is given; its state counts."""

    def __init__(self) -> None:
        self.seen: list[Any] = []

    def start(self, n_envs: int) -> int:
        return 10 * n_envs

    def metrics(self) -> dict[str, float]:
        return {}

    def act(self, observation: Any, carry: Any, start: Any, deterministic: bool = False) -> Act:
        self.seen.append((carry, start.tolist(), deterministic))
        return Act(np.full(len(start), 0.5), np.ones(len(start), np.int64), carry + 1, {})


def test_an_actor_gets_its_state_and_the_environment_its_own_kind_of_action() -> None:
    actions: list[Any] = []

    class Takes(Fixed):
        def step(self, action: Any) -> Any:
            actions.append(action)
            return super().step(action)

    actor = Noted()
    run: Any = SimpleNamespace(
        make_actor=lambda rng: actor, notify=lambda hook, env: None, timesteps=7
    )
    env = vector(Takes(2, 1.0))
    result = evaluate_run(run, env, 1, seeds=[1], deterministic=False)
    assert actor.seen == [(10, [True], False), (11, [False], False)]
    assert actions == [1, 1] and result.timesteps == 7
    evaluate_run(run, env, 1, seeds=[1])
    assert [how for *_, how in actor.seen[2:]] == [True, True]
