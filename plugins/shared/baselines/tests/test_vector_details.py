"""Details of vectors that programs for Stable Baselines 2.10 rely on."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from gymnasium import spaces

from rlk_baselines import A2C, TRPO, gym
from rlk_baselines.bench import Monitor
from rlk_baselines.common.vec_env import (
    DummyVecEnv,
    SubprocVecEnv,
    VecEnv,
    VecEnvWrapper,
    VecNormalize,
    VecVideoRecorder,
    vec_video_recorder,
)
from rlk_sb3.common.evaluation import evaluate_policy as evaluate_policy3

PARTS = [spaces.Discrete(3), spaces.Box(-1, 1, (2,), np.float32)]


class Structured(gym.Env):
    """Observes zeros, and returns the action in the info."""

    observation_space = spaces.Box(-1, 1, (1,), np.float32)

    def __init__(self, action_space: Any) -> None:
        self.action_space = action_space

    def reset(self) -> Any:
        return np.zeros(1, np.float32)

    def step(self, action: Any) -> Any:
        assert self.action_space.contains(action)
        parts = action.values() if isinstance(action, dict) else action
        return np.zeros(1, np.float32), float(sum(np.sum(part) for part in parts)), False, {}


@pytest.mark.parametrize(
    "space", [spaces.Tuple(PARTS), spaces.Dict({"a": PARTS[0], "b": PARTS[1]})]
)
@pytest.mark.parametrize("kind", [DummyVecEnv, partial(SubprocVecEnv, start_method="fork")])
def test_actions_may_have_parts(kind: Any, space: Any) -> None:
    env = kind([lambda: Structured(space), lambda: Structured(space)])
    env.reset()
    samples = [env.action_space.sample() for _ in range(2)]
    parts = [one.values() if isinstance(one, dict) else one for one in samples]
    _, rewards, _, _ = env.step(samples)
    assert rewards == pytest.approx([sum(map(np.sum, one)) for one in parts], abs=1e-6)
    with pytest.raises(ValueError, match="got 1 actions, not 2: one for each environment"):
        env.step(samples[:1])
    env.close()


def test_an_unknown_way_to_start_workers_is_refused(counting) -> None:
    with pytest.raises(ValueError, match=r"start_method is 'forkserver'.*, got 'illegal_method'"):
        SubprocVecEnv([counting], start_method="illegal_method")


def test_normalised_rewards_keep_their_type(counting) -> None:
    env = VecNormalize(DummyVecEnv([counting]))
    env.reset()
    _, rewards, _, _ = env.step([0])
    assert rewards.dtype == env.get_original_reward().dtype == np.float32
    assert env.normalize_reward(np.array([1, 1])) == pytest.approx(np.repeat(rewards, 2))


def test_infos_do_not_change_when_others_follow(counting) -> None:
    class Telling(counting):
        path: list[int] = []
        sizes = [np.zeros(2), np.zeros(3)]

        def step(self, action):
            *result, info = super().step(action)
            self.path.append(self.steps)
            self.sizes[self.steps % 2] += 1
            told = {"path": self.path, "size": self.sizes[self.steps % 2], "set": set(self.path)}
            return (*result, {**info, **told})

    env = DummyVecEnv([Telling, counting])
    env.reset()
    seen = [env.step([0, 0])[3][0] for _ in range(3)]
    assert [one["path"] for one in seen] == [[1], [1, 2], [1, 2, 3]]
    assert [one["set"] for one in seen] == [{1}, {1, 2}, {1, 2, 3}]
    assert [one["size"].tolist() for one in seen] == [[1, 1, 1], [1, 1], [2, 2, 2]]


class Stop(Exception):
    """An exception of a program's own."""


@pytest.mark.parametrize("kind", [A2C, TRPO])
def test_an_environments_exception_arrives_as_it_is(counting, kind) -> None:
    class Stopping(counting):
        def step(self, action):
            if self.steps == 2:
                raise Stop("enough")
            return super().step(action)

        def double(self, number):
            raise Stop(f"not {number}")

        def close(self):
            raise Stop("not closed")

    for env in (Stopping(), VecNormalize(DummyVecEnv([counting, Stopping]))):
        with pytest.raises(Stop, match="enough") as caught:
            kind("MlpPolicy", env).learn(20)
        assert "failed in step: Stop: enough" in caught.value.__notes__[0]
    vector = DummyVecEnv([counting, Stopping])
    vector.reset()
    with pytest.raises(Stop, match="enough"):
        for _ in range(3):
            vector.step([0, 0])
    with pytest.raises(Stop, match="not 3") as caught:
        vector.env_method("double", 3)
    assert caught.value.__cause__ is None and caught.value.__suppress_context__
    with pytest.raises(Stop, match="not closed"):
        vector.close()


def test_a_function_that_makes_no_environment_raises_its_own_exception() -> None:
    def fails() -> Any:
        raise Stop("nothing")

    with pytest.raises(Stop, match="nothing"):
        DummyVecEnv([fails])


class Blind(VecEnvWrapper):
    """A vector without images."""

    def reset(self) -> Any:
        return self.venv.reset()

    def step_wait(self) -> Any:
        return self.venv.step_wait()

    get_images = VecEnv.get_images

    def render(self, mode: str = "human") -> Any:
        return VecEnv.render(self, mode)


def test_a_vector_without_images_is_not_rendered(counting) -> None:
    with pytest.warns(UserWarning, match="nothing is rendered: Blind gives no images"):
        assert Blind(DummyVecEnv([counting])).render() is None


def test_a_video_has_the_frame_before_its_steps_and_another_may_follow(
    counting, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    written: dict[str, list[int]] = {}

    class Noted:
        def __init__(self, path: Path, fps: float) -> None:
            self.name, self.frames = path.name, list[int]()

        def add(self, frame: Any) -> None:
            self.frames.append(int(frame[0, 0, 0]))

        def end(self) -> None:
            written[self.name] = self.frames

    monkeypatch.setattr(vec_video_recorder, "film", Noted)
    venv = DummyVecEnv([lambda: counting(9)])
    env = VecVideoRecorder(venv, str(tmp_path), lambda step: step in (0, 4), video_length=2)
    env.reset()
    for _ in range(7):
        env.step([0])
    assert written == {
        "rl-video-step-0-to-step-2.mp4": [0, 1, 2],
        "rl-video-step-4-to-step-6.mp4": [4, 5, 6],
    }
    assert not env.recording


@pytest.mark.parametrize("own", [5, None, "x", {"id": 3}])
@pytest.mark.parametrize("monitored", [False, True])
def test_an_environments_own_key_episode_does_not_count(counting, own, monitored) -> None:
    class Own(counting):
        def step(self, action):
            *result, info = super().step(action)
            return (*result, {**info, "episode": own})

    env = Monitor(Own(), None) if monitored else Own()
    for kind, of_one_collection in ((A2C, "n_steps"), (TRPO, "timesteps_per_batch")):
        model = kind("MlpPolicy", env, **{of_one_collection: 6})
        model.learn(6, callback=lambda *_: True)
        assert model.ep_info_buf[0] == {"r": 3.0, "l": 3}
    assert evaluate_policy3(model, env, n_eval_episodes=2) == (3.0, 0.0)
