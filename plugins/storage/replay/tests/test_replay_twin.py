"""The replay storage against a twin that is a list of whole transitions, field by field."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rlk.records import Field, Step
from rlk_replay.config import ReplayConfig
from rlk_replay.layout import PACKED_BYTES
from rlk_replay.storage import Replay
from rlk_testing.contracts.storage.trajectory import schema_for

GAMMA = 0.9
SPACES = {
    "vector": gym.spaces.Box(-np.inf, np.inf, (3,), np.float64),
    "image": gym.spaces.Box(0, 255, (PACKED_BYTES + 1,), np.uint8),
    "large image": gym.spaces.Box(0, 255, (70_000,), np.uint8),
    "number": gym.spaces.Discrete(1_000_000),
    "dict": gym.spaces.Dict(
        {
            "position": gym.spaces.Box(-np.inf, np.inf, (2,), np.float32),
            "camera": gym.spaces.Box(0, 255, (PACKED_BYTES, 2), np.uint8),
            "room": gym.spaces.Discrete(1_000_000),
        }
    ),
}


def observation_number(space: gym.Space[Any], number: int) -> Any:
    """An observation unlike that of any other number."""
    if isinstance(space, gym.spaces.Dict):
        return {key: observation_number(part, number) for key, part in space.spaces.items()}
    if isinstance(space, gym.spaces.Discrete):
        return np.int64(number)
    if space.dtype == np.uint8:
        found = np.zeros(space.shape, np.uint8)
        found.flat[0], found.flat[1], found.flat[-1] = number % 256, number // 256, 7
        return found
    return np.arange(np.prod(space.shape)).reshape(space.shape).astype(space.dtype) + number


def stack(space: gym.Space[Any], observations: list[Any]) -> Any:
    if isinstance(space, gym.spaces.Dict):
        return {key: np.stack([o[key] for o in observations]) for key in space.spaces}
    return np.stack(observations)


@dataclass
class Transition:
    observation: int
    action: int
    reward: float
    next_observation: int
    terminated: bool
    truncated: bool
    log_prob: float
    episode: int
    last: bool = False  # no step of this environment continues it


class Play:
    """Environments that do what they are told, filling a storage and its twin."""

    def __init__(self, space: gym.Space[Any], n_envs: int, buffer_size: int) -> None:
        self.space, self.n_envs = space, n_envs
        self.storage = Replay(ReplayConfig(buffer_size=buffer_size))
        self.storage.open(
            schema_for(
                space,
                gym.spaces.Discrete(1000),
                n_envs,
                gamma=GAMMA,
                rng=np.random.default_rng(3),
                extras={"log_prob": Field(())},
            )
        )
        self.capacity = max(1, buffer_size // n_envs)
        self.twin: list[list[Transition]] = [[] for _ in range(n_envs)]
        self.count = 0
        self.now = [self.fresh() for _ in range(n_envs)]
        self.episode = [self.fresh() for _ in range(n_envs)]

    def fresh(self) -> int:
        self.count += 1
        return self.count

    def step(self, ends: list[str]) -> None:
        """One vector step; per environment: goes on, terminates, is truncated, or both."""
        before, after, final = list(self.now), [], {}
        for env, end in enumerate(ends):
            reached = self.fresh()
            ended = end != "goes on"
            self.twin[env].append(
                Transition(
                    observation=before[env],
                    action=self.count % 1000,
                    reward=float(self.count) / 2,
                    next_observation=reached,
                    terminated=end in ("terminates", "both"),
                    truncated=end in ("is truncated", "both"),
                    log_prob=-float(self.count),
                    episode=self.episode[env],
                    last=ended,
                )
            )
            if ended:
                final[env] = observation_number(self.space, reached)
                self.episode[env] = self.fresh()
            after.append(self.fresh() if ended else reached)
        newest = [transitions[-1] for transitions in self.twin]
        self.now = after
        self.storage.add(
            Step(
                observation=stack(self.space, [observation_number(self.space, n) for n in before]),
                action=np.array([t.action for t in newest]),
                reward=np.array([t.reward for t in newest]),
                terminated=np.array([t.terminated for t in newest]),
                truncated=np.array([t.truncated for t in newest]),
                next_observation=stack(
                    self.space, [observation_number(self.space, n) for n in after]
                ),
                final_observation=final,
                extras={
                    "log_prob": np.array([t.log_prob for t in newest], np.float32),
                    "more": newest,
                },
            )
        )

    def reset(self, envs: list[int]) -> None:
        """Environments are reset behind the storage's back."""
        for env in envs:
            self.now[env] = self.fresh()
            self.episode[env] = self.fresh()
            if self.twin[env]:
                self.twin[env][-1].last = True

    def kept(self) -> dict[int, tuple[int, int]]:
        """Slot -> (env, position in the twin's list) of every transition that must be there."""
        total = len(self.twin[0])
        return {
            (time % self.capacity) * self.n_envs + env: (env, time)
            for time in range(max(0, total - self.capacity), total)
            for env in range(self.n_envs)
        }

    def check(self) -> None:
        kept = self.kept()
        assert len(self.storage) == len(kept)
        slots = np.array(sorted(kept))
        assert slots.tolist() == list(range(len(kept)))
        batch = self.storage.fold(self.storage.window(slots, 1))
        for b, slot in enumerate(slots.tolist()):
            env, time = kept[slot]
            expected = self.twin[env][time]
            self.assert_observation(batch.observation, b, expected.observation)
            self.assert_observation(batch.next_observation, b, expected.next_observation)
            assert batch.action[b].item() == expected.action
            assert batch.reward[b].item() == expected.reward
            assert batch.discount[b].item() == np.float32(0.0 if expected.terminated else GAMMA)
            assert batch.weight[b].item() == 1.0
            assert batch.extras["log_prob"][b].item() == expected.log_prob
        assert batch.index.tolist() == slots.tolist()

    def assert_observation(self, found: Any, b: int, number: int, space: Any = None) -> None:
        expected = observation_number(self.space, number)
        if isinstance(expected, dict):
            for key, value in expected.items():
                assert np.array_equal(found[key][b], value)
        else:
            assert np.array_equal(found[b], expected)

    def check_windows(self, length: int) -> None:
        kept = self.kept()
        slots = np.array(sorted(kept))
        window = self.storage.window(slots, length)
        after = self.storage.observation_after
        to_end = self.storage.steps_to_end(slots)
        from_start = self.storage.steps_from_start(slots)
        ends = self.storage.following(slots, to_end)
        for b, slot in enumerate(slots.tolist()):
            env, time = kept[slot]
            future = []
            for transition in self.twin[env][time:]:
                future.append(transition)
                if transition.last:
                    break
            past = self.twin[env][max(0, len(self.twin[env]) - self.capacity) : time + 1]
            same = [t for t in past if t.episode == self.twin[env][time].episode]
            assert to_end[b] == len(future) - 1
            assert from_start[b] == len(same) - 1
            assert kept[int(ends[b])] == (env, time + len(future) - 1)
            steps = future[:length]
            assert window.length[b] == len(steps)
            for k, expected in enumerate(steps):
                row = _row(window.observation, k)
                self.assert_observation(row, b, expected.observation)
                assert window.action[k, b] == expected.action
                assert window.reward[k, b] == expected.reward
                assert window.terminated[k, b] == expected.terminated
                assert window.truncated[k, b] == expected.truncated
                assert window.extras["log_prob"][k, b] == expected.log_prob
            final = _row(window.observation, len(steps))
            self.assert_observation(final, b, steps[-1].next_observation)
            key = "room" if isinstance(self.space, gym.spaces.Dict) else None
            expected = observation_number(self.space, steps[0].next_observation)
            np.testing.assert_array_equal(
                after(np.array([slot]), key)[0], expected[key] if key else expected
            )


def _row(observation: Any, k: int) -> Any:
    if isinstance(observation, dict):
        return {key: value[k] for key, value in observation.items()}
    return observation[k]


END = st.sampled_from(["goes on"] * 4 + ["terminates", "is truncated", "both"])


@pytest.mark.parametrize("n_envs", [1, 4])
@pytest.mark.parametrize("space", ["vector", "number"])
@settings(max_examples=25, deadline=None, derandomize=True)
@given(data=st.data())
def test_every_stored_transition_is_the_twins_field_by_field(
    n_envs: int, space: str, data: st.DataObject
) -> None:
    play = Play(SPACES[space], n_envs, data.draw(st.integers(1, 9)) * n_envs + n_envs // 2)
    length = data.draw(st.integers(2, 6))
    for _ in range(data.draw(st.integers(1, 30))):
        play.step(data.draw(st.lists(END, min_size=n_envs, max_size=n_envs)))
        if data.draw(st.integers(0, 7)) == 0:
            play.reset(data.draw(st.lists(st.integers(0, n_envs - 1), unique=True)))
        play.check()
    play.check_windows(length)


@pytest.mark.parametrize("n_envs", [1, 3])
@pytest.mark.parametrize("space", sorted(SPACES))
def test_every_kind_of_observation_survives_several_wraps(n_envs: int, space: str) -> None:
    rng = np.random.default_rng(5)
    play = Play(SPACES[space], n_envs, 7 * n_envs)
    kinds = ["goes on", "goes on", "goes on", "terminates", "is truncated"]
    for t in range(25):
        play.step([kinds[rng.integers(5)] for _ in range(n_envs)])
        if t in (4, 17):
            play.reset([0])
        if t in (0, 3, 6, 7, 13, 14, 24):
            play.check()
            for length in (1, 2, 5, 9):
                play.check_windows(length)


def test_so_many_environments_that_their_numbers_take_64_kilobytes() -> None:
    play = Play(SPACES["number"], 8193, 3 * 8193)
    for _ in range(2):
        play.step(["goes on"] * 8193)
    play.reset([5])
    play.step(["goes on"] * 8193)
    play.check()
    assert play.storage.is_over(np.array([8193 + 4, 8193 + 5])).tolist() == [False, True]


def test_the_side_table_grows_while_transitions_use_it_and_its_rows_are_used_again() -> None:
    play = Play(SPACES["vector"], 2, 2 * 60)
    for t in range(150):
        play.step(["terminates", "goes on"] if t % 2 else ["goes on", "is truncated"])
        if t % 7 == 0:
            play.check()
    play.check()
    assert len(play.storage._ring._side_table.stores[0]) < 2 * 60 + 2 + 18


def test_the_side_table_grows_when_it_is_resets_that_end_the_episodes() -> None:
    play = Play(SPACES["vector"], 1, 40)
    for _ in range(60):
        play.step(["goes on"])
        play.check()
        play.reset([0])


def test_every_transition_is_reached_by_sampling_and_no_other() -> None:
    play = Play(SPACES["vector"], 2, 2 * 5)
    for t in range(13):
        play.step(["goes on", "terminates" if t % 3 == 0 else "goes on"])
    seen = set()
    for _ in range(30):
        batch = play.storage.sample(16)
        for b, slot in enumerate(batch.index.tolist()):
            env, time = play.kept()[slot]
            seen.add(slot)
            assert batch.reward[b].item() == play.twin[env][time].reward
            play.assert_observation(
                batch.next_observation, b, play.twin[env][time].next_observation
            )
    assert seen == set(play.kept())
