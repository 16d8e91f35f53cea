"""Stacked frames, each kept once: against the plain replay, and how much memory they take."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import gymnasium as gym
import numpy as np
import pytest

import rlk
from rlk.errors import RlkError
from rlk.records import Batch, Schema, Step, Update
from rlk_n_step.config import NStepConfig
from rlk_n_step.storage import NStep
from rlk_prioritized_replay.config import PrioritizedReplayConfig
from rlk_prioritized_replay.storage import PrioritizedReplay
from rlk_replay.config import ReplayConfig
from rlk_replay.pool import FramePool
from rlk_replay.ring import Ring
from rlk_replay.stack import Stack, stack_of
from rlk_replay.storage import Replay
from rlk_stored_steps.leaves import Leaf
from rlk_testing.contracts.storage.trajectory import schema_for
from rlk_testing.tools.states import same

K = 4
SHAPES = {
    "first": (K, 6, 7),
    "last": (6, 7, K),
    "channels first": (3 * K, 13, 14),
    "channels last": (13, 14, 3 * K),
    "one channel": (K, 6, 7, 1),
}


def image(shape: tuple[int, ...]) -> gym.spaces.Box:
    return gym.spaces.Box(0, 255, shape, np.uint8)


SPACES: dict[str, gym.Space[Any]] = {
    **{name: image(shape) for name, shape in SHAPES.items()},
    "dict": gym.spaces.Dict(
        {
            "place": gym.spaces.Box(-1, 1, (K,), np.float32),
            "camera": image(SHAPES["last"]),
            "no stack": image((K, 40)),
        }
    ),
}


def stack_in(shape: tuple[int, ...]) -> Stack:
    found = stack_of(Leaf(None, shape, np.dtype(np.uint8)), K)
    assert found is not None
    return found


class Games:
    """Environments whose images are stacks of frames, as vector steps with all that may happen.

    Episodes end either way, begin with repeated or with black frames, a frame may be as the last
    one, an environment may be reset without a step, and now and then it gives an image that is no
    stack of what it gave before.
    """

    def __init__(self, space: gym.Space[Any], n_envs: int, seed: int = 0) -> None:
        self.space, self.n_envs, self.rng = space, n_envs, np.random.default_rng(seed)
        self.now = [self.reset() for _ in range(n_envs)]

    def frame(self, stack: Stack) -> Any:
        kind = self.rng.random()
        if kind < 0.1:
            return np.zeros(stack.frame, np.uint8)
        return self.rng.integers(0, 255, stack.frame, dtype=np.uint8)

    def images(self, make: Any) -> Any:
        if not isinstance(self.space, gym.spaces.Dict):
            return make(None, stack_in(self.space.shape))  # type: ignore[arg-type]
        return {
            "place": self.rng.normal(size=K).astype(np.float32),
            "camera": make("camera", stack_in(SHAPES["last"])),
            "no stack": self.rng.integers(0, 255, (K, 40), dtype=np.uint8),
        }

    def reset(self) -> Any:
        def begin(key: Any, stack: Stack) -> Any:
            frame = self.frame(stack)
            padding = frame if self.rng.random() < 0.5 else np.zeros_like(frame)
            return stack.join(np.stack([padding] * (K - 1) + [frame]))

        return self.images(begin)

    def follow(self, before: Any) -> Any:
        def move(key: Any, stack: Stack) -> Any:
            frames = stack.split(before if key is None else before[key])
            newest = frames[-1] if self.rng.random() < 0.1 else self.frame(stack)
            return stack.join(np.stack([*frames[1:], newest]))

        return self.reset() if self.rng.random() < 0.03 else self.images(move)

    def vector(self, each: list[Any]) -> Any:
        if isinstance(self.space, gym.spaces.Dict):
            return {key: np.stack([one[key] for one in each]) for key in self.space.spaces}
        return np.stack(each)

    def steps(self, count: int, ends: float = 0.1) -> Iterator[Step]:
        for _ in range(count):
            before, over = self.now, self.rng.random(self.n_envs) < ends
            terminated = over & (self.rng.random(self.n_envs) < 0.5)
            reached = list(map(self.follow, before))
            self.now = [self.reset() if over[e] else reached[e] for e in range(self.n_envs)]
            yield Step(
                observation=self.vector(before),
                action=self.rng.integers(3, size=self.n_envs),
                reward=self.rng.normal(size=self.n_envs).astype(np.float32),
                terminated=terminated,
                truncated=over & ~terminated,
                next_observation=self.vector(self.now),
                final_observation={e: reached[e] for e in np.flatnonzero(over).tolist()},
                extras={},
            )
            for env in np.flatnonzero(self.rng.random(self.n_envs) < 0.05):
                self.now[env] = self.reset()


def schema(space: gym.Space[Any], n_envs: int, stack_size: int = K) -> Schema:
    rng = np.random.default_rng(7)
    return schema_for(space, gym.spaces.Discrete(3), n_envs, rng=rng, stack_size=stack_size)


def pair(space: gym.Space[Any], n_envs: int, rows: int, *decorated: str) -> list[Replay]:
    """A replay that keeps frames, and the plain one."""
    found = []
    for frame_stack in (None, 1):
        made = Replay(ReplayConfig(buffer_size=rows * n_envs, frame_stack=frame_stack))
        opened = schema(space, n_envs)
        made.open(opened)
        decorators: list[Any] = []
        if "priorities" in decorated:
            decorators.append(PrioritizedReplay(PrioritizedReplayConfig()))
        if "n-step" in decorated:
            decorators.append(NStep(NStepConfig(n_steps=3)))
        for decorator in decorators:
            decorator.open(made, opened)
            made.decorate(decorator)
        found.append(made)
    return found


def check_all(lean: Replay, plain: Replay, length: int) -> None:
    """Every slot gives the same, through windows and single steps."""
    slots = np.arange(len(plain))
    one, other = lean.window(slots, length), plain.window(slots, length)
    assert one.length.tolist() == other.length.tolist()
    counts = np.arange(length + 1)[:, None] <= one.length
    for field in ("observation", "action", "reward", "terminated", "truncated"):
        a, b = getattr(one, field), getattr(other, field)
        for key in a if isinstance(a, dict) else [None]:
            x, y = (a, b) if key is None else (a[key], b[key])
            assert same(x[counts[: len(x)]], y[counts[: len(y)]])
    key = "camera" if isinstance(plain.schema.observation_space, gym.spaces.Dict) else None
    assert same(lean.observation_after(slots, key), plain.observation_after(slots, key))


@pytest.mark.parametrize("n_envs", [1, 3])
@pytest.mark.parametrize("space", sorted(SPACES))
def test_it_gives_what_the_plain_replay_gives_while_it_wraps_several_times(
    space: str, n_envs: int
) -> None:
    lean, plain = pair(SPACES[space], n_envs, rows=17)
    for number, step in enumerate(Games(SPACES[space], n_envs, seed=n_envs).steps(70)):
        for storage in (lean, plain):
            storage.add(step)
        if number == 40:
            lean.interrupt()
            plain.interrupt()
        if number % 6 == 0:
            check_all(lean, plain, length=1 + number % 5)
    assert lean._ring._has_stacks and not plain._ring._has_stacks


@pytest.mark.parametrize(("n_envs", "seed"), [(8, 0), (8, 2), (2, 3)])
def test_frames_that_another_environment_needs_are_kept(n_envs: int, seed: int) -> None:
    """The frames of one environment are the oldest at one time, those of another at another."""
    lean, plain = pair(SPACES["first"], n_envs, rows=40)
    for number, step in enumerate(Games(SPACES["first"], n_envs, seed).steps(160, ends=0.3)):
        lean.add(step)
        plain.add(step)
        if number % 7 == 0:
            check_all(lean, plain, length=2)


@pytest.mark.parametrize("rows", [1, 2, 3])
def test_so_it_is_with_rows_that_are_fewer_than_the_frames_of_a_stack(rows: int) -> None:
    lean, plain = pair(SPACES["first"], 2, rows)
    for step in Games(SPACES["first"], 2).steps(40):
        lean.add(step)
        plain.add(step)
        check_all(lean, plain, length=2)


def in_float64(step: Step) -> Step:
    """The same step, whose images are numbers that float32 rounds."""
    finals = {env: final / 3 for env, final in step.final_observation.items()}
    return step._replace(
        observation=step.observation / 3,
        next_observation=step.next_observation / 3,
        final_observation=finals,
    )


def test_numbers_that_are_kept_with_fewer_digits_are_stacks_all_the_same() -> None:
    lean, plain = pair(gym.spaces.Box(0, 100, SHAPES["first"], np.float64), 2, rows=40)
    images, _ = pair(SPACES["first"], 2, rows=40)
    for step in Games(SPACES["first"], 2).steps(60):
        images.add(step)
        for storage in (lean, plain):
            storage.add(in_float64(step))
    check_all(lean, plain, length=4)
    (kept,), (expected,) = (one.state_dict()["frames"].values() for one in (lean, images))
    assert kept["next"] == expected["next"] < 2 * 60 * 2


@pytest.mark.parametrize("decorated", [("priorities",), ("n-step",), ("priorities", "n-step")])
def test_priorities_and_n_step_returns_work_upon_it_unchanged_and_after_a_resume(
    decorated: tuple[str, ...],
) -> None:
    lean, plain = pair(SPACES["last"], 2, 15, *decorated)
    games = Games(SPACES["last"], 2)

    def go_on(lean: Replay, plain: Replay, count: int) -> None:
        for step in games.steps(count):
            batches: list[Batch] = []
            for storage in (lean, plain):
                storage.add(step)
                batches.append(storage.sample(8))
                storage.feedback(batches[-1], Update({}, td_error=batches[-1].reward))
            one, other = batches
            assert one.index.tolist() == other.index.tolist()
            for field in ("observation", "next_observation", "reward", "discount", "weight"):
                assert same(getattr(one, field), getattr(other, field))

    go_on(lean, plain, 40)
    resumed, twin = pair(SPACES["last"], 2, 15, *decorated)
    for new, old in ((resumed, lean), (twin, plain)):
        new.load_state_dict(old.state_dict())
        new.schema.rng.bit_generator.state = old.schema.rng.bit_generator.state
    assert same(resumed.state_dict(), lean.state_dict())
    go_on(resumed, twin, 30)


def test_a_million_pong_transitions_take_less_than_eight_gigabytes() -> None:
    taken: list[int] = []

    def counted(shape: tuple[int, ...], dtype: Any) -> Any:
        array = np.zeros(shape, dtype)
        taken.append(array.nbytes)
        return array

    space, transitions = image((K, 84, 84)), 2000
    ring = Ring(transitions, schema(space, 1), K, counted)
    stack, rng = stack_in((K, 84, 84)), np.random.default_rng(0)
    frames = rng.integers(0, 255, (500, 84, 84), dtype=np.uint8)

    def seen(t: int) -> Any:  # at step t of an episode, whose first frame is repeated
        return stack.join(frames[[max(0, t - 3), max(0, t - 2), max(0, t - 1), t]])

    for number in range(2 * transitions + 500):
        t = number % 200
        over = np.array([t == 199])
        ring.write(
            Step(
                observation=seen(t)[None],
                action=np.zeros(1, np.int64),
                reward=np.zeros(1),
                terminated=over,
                truncated=~over & False,
                next_observation=seen(0 if over[0] else t + 1)[None],
                final_observation={0: seen(200)} if over[0] else {},
                extras={},
            )
        )
    # Nothing grew: these are the arrays of `open` and of the first step.
    bytes_each = (sum(taken) + ring._episodes.bounds.nbytes) / transitions
    assert 84 * 84 < bytes_each < 8000
    assert 8 * 84 * 84 * transitions > 7 * sum(taken)  # observation and next one, each whole


@pytest.mark.parametrize("at_a_time", [1024, 7])  # all its frames at once, or in parts
def test_the_pool_grows_where_images_are_no_stacks_after_all(
    monkeypatch: pytest.MonkeyPatch, at_a_time: int
) -> None:
    monkeypatch.setattr("rlk_replay.pool._AT_A_TIME", at_a_time)
    lean, plain = pair(SPACES["first"], 1, 50)
    games = Games(SPACES["first"], 1)
    for _ in range(120):
        games.now = [games.reset()]
        for step in games.steps(1):
            lean.add(step)
            plain.add(step)
        check_all(lean, plain, length=3)
    (pool,) = lean._ring._frames._pools.values()
    assert 50 < len(pool._frames) < 4 * 50


def test_a_still_picture_keeps_no_frame_forever() -> None:
    stack = stack_in((K, 6, 7))
    pool = FramePool(Leaf(None, stack.shape, np.dtype(np.uint8)), stack, 1, np.zeros)
    pool.allocate(20)
    still, oldest = np.ones((1, *stack.shape), np.uint8), []
    for _ in range(100):
        numbers, _, _ = pool.store([still, still], {})
        oldest.append(numbers)
        pool.release(oldest[-20:][0])
    assert len(pool._frames) < 40


def test_what_is_a_stack_and_on_which_axis() -> None:
    def found(*shape: int, k: int = K) -> Stack | None:
        return stack_of(Leaf(None, shape, np.dtype(np.uint8)), k)

    assert found(4, 84, 84) == Stack(4, (4, 84, 84), is_first=True)
    assert found(84, 84, 4) == Stack(4, (84, 84, 4), is_first=False)
    assert found(12, 84, 84) == Stack(4, (12, 84, 84), is_first=True)
    assert found(84, 84, 12) == Stack(4, (84, 84, 12), is_first=False)
    assert found(36, 36, 48) == Stack(4, (36, 36, 48), is_first=False)
    assert found(4, 84, 84, 3) == Stack(4, (4, 84, 84, 3), is_first=True)
    assert found(84, 84, 3) is None and found(84, 84, 4, k=1) is None
    assert found(4, 4) is None  # 16 bytes: numbers of frames would take more
    assert [one.frame for one in map(stack_in, SHAPES.values())] == [
        (6, 7),
        (6, 7, 1),
        (3, 13, 14),
        (13, 14, 3),
        (6, 7, 1),
    ]


def test_frames_by_hand_on_the_last_axis() -> None:
    stack = Stack(2, (1, 2, 4), is_first=False)  # two frames of two channels, two pixels
    image = np.array([[[1, 2, 11, 12], [3, 4, 13, 14]]])
    frames = stack.split(image)
    assert frames[0].tolist() == [[[1, 2], [3, 4]]] and frames[1].tolist() == [[[11, 12], [13, 14]]]
    assert stack.join(frames).tolist() == image.tolist()


def test_a_memory_of_another_stack_is_refused_by_name() -> None:
    lean, plain = pair(SPACES["first"], 1, 5)
    with pytest.raises(RlkError, match="frame_stack is 4 there, 1 here"):
        plain.load_state_dict(lean.state_dict())


class Screen(gym.Env[Any, Any]):
    """A screen of 6x6 whose pixels are drawn anew; an episode has 7 steps."""

    observation_space = image((6, 6))
    action_space = gym.spaces.Discrete(2)

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        super().reset(seed=seed)
        self.t = 0
        return self.look(), {}

    def look(self) -> Any:
        return self.np_random.integers(0, 255, (6, 6), dtype=np.uint8)

    def step(self, action: Any) -> Any:
        self.t += 1
        return self.look(), float(action), False, self.t == 7, {}


def stacked_screen() -> gym.Env[Any, Any]:
    return gym.wrappers.FrameStackObservation(Screen(), K)


def test_the_environment_says_that_it_stacks_and_training_is_the_same_without() -> None:
    ends = []
    for frame_stack in (None, 1):
        with rlk.make(
            "dqn",
            env=stacked_screen,
            n_envs=2,
            seed=1,
            buffer_size=60,
            batch_size=8,
            learning_starts=20,
            **{"replay.frame_stack": frame_stack},
        ) as agent:
            ring = agent.learn(120).run.storage._ring
            assert ring._has_stacks == (frame_stack is None)
            ends.append(agent.run.parameters.flat.clone())
    assert ends[0].equal(ends[1])
