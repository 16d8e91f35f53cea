"""`video-recorder`: which steps are filmed, what the files are called, and what can go wrong."""

from __future__ import annotations

import tempfile
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rlk
from rlk.errors import PlanError, RlkError
from rlk.hookspecs import hookimpl
from rlk.one_process import OneProcess
from rlk.registry.hooks import Hooks
from rlk_testing.environments import Walk
from rlk_testing.stand_ins import StandInVecEnv, stand_in_kernel
from rlk_wrappers import videos as videos_module
from rlk_wrappers.checks import can_write_videos
from rlk_wrappers.config_steps import VideoRecorderConfig
from rlk_wrappers.video_recorder import VideoRecorder

KERNEL = stand_in_kernel(discover=True)


class Frames:
    """A film that keeps its frames; `films` has the finished ones, by name."""

    films: dict[str, list[Any]]

    def __init__(self, path: Path, fps: float) -> None:
        self.path, self.frames, self.fps = path, [], fps

    def add(self, frame: Any) -> None:
        self.frames.append(frame.copy())

    def end(self) -> None:
        self.films[self.path.name] = self.frames

    def drop(self) -> None:
        """Drop the film: nothing is kept."""


@pytest.fixture
def films(monkeypatch: pytest.MonkeyPatch) -> dict[str, list[Any]]:
    """Films by name, kept in memory instead of files."""
    Frames.films = {}
    monkeypatch.setattr(videos_module, "film", Frames)
    monkeypatch.setattr("importlib.util.find_spec", lambda name, *_: name)
    return Frames.films


def recorder(out: Path, n: int = 2, training: bool = True, length: int = 5, **settings: Any) -> Any:
    """A recorder of walks that show their step number and end after `length` steps, or before."""
    mode = {"render_mode": "rgb_array", "length": length}
    vector = StandInVecEnv([lambda: Walk(**mode)] * n)
    config = VideoRecorderConfig(**settings)
    return VideoRecorder(vector, config, training=training, out=str(out), hooks=Hooks())


def play(env: Any, steps: int) -> None:
    env.reset(seed=list(range(env.num_envs)))
    for _ in range(steps):
        env.step(np.zeros(env.num_envs, np.int64))


def test_a_video_begins_every_so_many_steps_and_has_so_many(films: Any, tmp_path: Path) -> None:
    env = recorder(tmp_path, every_steps=10, video_length=4)
    play(env, 25)
    env.close()
    names = [
        "rl-video-step-0-to-step-4",
        "rl-video-step-10-to-step-14",
        "rl-video-step-20-to-step-24",
    ]
    assert list(films) == [f"{name}.mp4" for name in names]
    # A frame before the first step and one after each; two environments side by side.
    assert [len(frames) for frames in films.values()] == [5, 5, 5]
    assert films["rl-video-step-0-to-step-4.mp4"][0].shape == (8, 4, 3)


def test_a_video_that_is_not_at_its_end_is_ended_with_the_environments(
    films: Any, tmp_path: Path
) -> None:
    env = recorder(tmp_path, every_steps=100, name_prefix="mine")
    play(env, 3)
    assert not films
    env.close()
    assert [len(frames) for frames in films.values()] == [4] and next(iter(films)) == (
        "mine-step-0-to-step-200.mp4"
    )


def test_whole_episodes_of_the_first_environment_are_filmed(films: Any, tmp_path: Path) -> None:
    settings = {"every_steps": None, "every_episodes": 2, "video_length": 0}
    env = recorder(tmp_path, n=1, **settings)
    env.reset(seed=[7])
    starts, t = [0], 0
    while len(starts) < 5:
        *_, terminated, truncated, _ = env.step(np.zeros(1, np.int64))
        t += 1
        if terminated[0] or truncated[0]:
            starts.append(t)
    env.close()
    assert list(films) == [f"rl-video-step-{starts[i]}.mp4" for i in (0, 2)]
    for i, frames in zip((0, 2), films.values(), strict=True):
        assert [int(f[0, 0, 0]) for f in frames[:-1]] == list(range(starts[i + 1] - starts[i]))


class OfTenSteps(Walk):
    """Every episode has ten steps."""

    def step(self, action: Any) -> Any:
        *rest, _, _, info = super().step(action)
        return *rest, False, self.steps == 10, info


def test_no_video_begins_in_the_middle_of_an_episode_that_an_earlier_one_still_shows(
    films: Any, tmp_path: Path
) -> None:
    settings: Any = {"every_steps": None, "every_episodes": 2, "video_length": 25}
    config = VideoRecorderConfig(video_folder=str(tmp_path), **settings)
    env = VideoRecorder(StandInVecEnv([lambda: OfTenSteps(render_mode="rgb_array")]), config)
    play(env, 90)
    env.close()
    # The third episode, from step 20 on, began in the first video; so the fifth is the next one.
    assert list(films) == [f"rl-video-step-{i}-to-step-{i + 25}.mp4" for i in (0, 40, 80)]


def test_a_trigger_of_ones_own_decides(films: Any, tmp_path: Path) -> None:
    vector = StandInVecEnv([lambda: Walk(render_mode="rgb_array")])
    config = VideoRecorderConfig(video_folder=str(tmp_path), video_length=2)
    asked: list[int] = []
    env = VideoRecorder(vector, config, trigger=lambda step: asked.append(step) or step == 3)
    play(env, 6)
    assert list(films) == ["rl-video-step-3-to-step-5.mp4"]
    assert asked == [0, 1, 2, 3, 5]  # not while a video is being recorded


def test_a_folder_may_begin_with_the_users_home(
    films: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folders: list[Path] = []

    class Placed(Frames):
        def __init__(self, path: Path, fps: float) -> None:
            super().__init__(path, fps)
            folders.append(path.parent)

    monkeypatch.setattr(videos_module, "film", Placed)
    monkeypatch.setenv("HOME", str(tmp_path))
    env = recorder(tmp_path / "run", video_folder="~/films")
    play(env, 5)
    env.close()
    assert films and set(folders) == {tmp_path / "films"}


def test_evaluations_are_filmed_only_if_they_are_to_be(films: Any, tmp_path: Path) -> None:
    play(recorder(tmp_path, training=False), 5)
    env = recorder(tmp_path, training=False, evaluation=True, video_length=3)
    for _ in range(2):
        play(env, 5)
    assert (
        list(films) == ["rl-video-eval-step-0.mp4"] and len(films["rl-video-eval-step-0.mp4"]) == 4
    )


def test_an_evaluation_in_a_window_is_not_filmed(films: Any, tmp_path: Path) -> None:
    window = StandInVecEnv([lambda: Walk(render_mode="human")])
    config = VideoRecorderConfig(evaluation=True)
    play(VideoRecorder(window, config, training=False, out=str(tmp_path), hooks=Hooks()), 3)
    assert not films


def test_in_a_run_environments_are_made_to_give_images(films: Any, tmp_path: Path) -> None:
    plugins = ["video-recorder:video_length=3,every_steps=8,evaluation=true", "no:monitor"]
    keywords = {"n_steps": 4, "learning_rate": 1e-6, "seed": 1, "n_threads": 1}
    with rlk.make(
        "stand-in", env=Walk, kernel=KERNEL, plugins=plugins, out=str(tmp_path), **keywords
    ) as agent:
        agent.learn(12)
        path = agent.save_checkpoint(tmp_path / "checkpoint")
        from rlk_evaluation.evaluate import evaluate_agent

        evaluate_agent(agent, 1, seed=1)
    assert list(films) == [
        "rl-video-step-0-to-step-3.mp4",
        "rl-video-step-8-to-step-11.mp4",
        "rl-video-eval-step-12.mp4",
    ]
    films.clear()
    told = pytest.warns(UserWarning, match="this run has no folder")
    with told, rlk.load(path, kernel=KERNEL, env=Walk) as again:
        again.learn(12, reset_num_timesteps=False)
    assert not films


def test_a_checkpoint_goes_on_with_the_count_of_steps(films: Any, tmp_path: Path) -> None:
    hooks, other = Hooks(), Hooks()
    config = VideoRecorderConfig(every_steps=10, video_length=2)
    mode = {"render_mode": "rgb_array"}
    one, two = (
        VideoRecorder(StandInVecEnv([lambda: Walk(**mode)]), config, out=str(tmp_path), hooks=each)
        for each in (hooks, other)
    )
    play(one, 13)
    films.clear()
    two.reset(seed=[1])
    other.get("video-recorder").rlk_load(hooks.get("video-recorder").rlk_save())
    for _ in range(10):
        two.step(np.zeros(1, np.int64))
    assert list(films) == ["rl-video-step-20-to-step-22.mp4"]


def test_a_resumed_run_films_the_episodes_that_an_uninterrupted_one_films(
    films: Any, tmp_path: Path
) -> None:
    plugins = ["video-recorder:every_steps=none,every_episodes=2,video_length=2", "no:monitor"]
    keywords = {"n_envs": 1, "n_steps": 8, "learning_rate": 1e-6, "seed": 1, "n_threads": 1}
    out = str(tmp_path / "run")
    with rlk.make(
        "stand-in", env=Walk, kernel=KERNEL, plugins=plugins, out=out, **keywords
    ) as agent:
        path = agent.learn(16).save_checkpoint(tmp_path / "checkpoint")
        before = set(films)
        agent.learn(64, reset_num_timesteps=False)
    uninterrupted = set(films) - before
    films.clear()
    with rlk.load(path, kernel=KERNEL, env=Walk, out=str(tmp_path / "resumed")) as again:
        again.learn(64, reset_num_timesteps=False)
    assert set(films) == uninterrupted and len(uninterrupted) > 3


def test_a_reset_before_a_state_is_restored_begins_no_episode(films: Any, tmp_path: Path) -> None:
    env = recorder(tmp_path, n=1)
    env.reset(seed=[1])
    state = env.get_state()
    assert env._videos.episodes == 1
    env.reset(seed=[2])
    env.set_state(state)
    env.set_state(state)
    assert env._videos.episodes == 1, "the reset's episode was dropped, once"
    env.step(np.zeros(1, np.int64))
    env.set_state(state)
    assert env._videos.episodes == 1, "no reset came before"


class Broken(Frames):
    """A film that cannot be completed."""

    def end(self) -> None:
        raise OSError("No space left on device")


def test_a_last_video_that_cannot_be_written_is_noted_when_the_run_is_closed(
    films: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    monkeypatch.setattr(videos_module, "film", Broken)
    plugins = ["video-recorder:video_length=1000", "no:monitor"]
    keywords = {"n_steps": 4, "seed": 1, "n_threads": 1, "out": str(tmp_path)}
    agent = rlk.make("stand-in", env=Walk, kernel=KERNEL, plugins=plugins, **keywords)
    with agent:
        agent.learn(8)
        agent.learn(8, reset_num_timesteps=False)
        assert not agent.run.failed_writes, "it is still being recorded"
    assert "No space left" in str(agent.run.failed_writes)
    assert "1 time:" in str(agent.run.failed_writes)
    assert "rlk_wrappers.videos" in capsys.readouterr().err


def test_what_a_killed_run_left_unfinished_is_removed_from_the_runs_own_folder(
    films: Any, tmp_path: Path
) -> None:
    names = [".rl-video-step-0.unfinished.mp4", ".mine.unfinished.mp4", "rl-video-step-0.mp4"]
    folders = {True: tmp_path / "videos", False: tmp_path / "shared"}
    for is_own, folder in folders.items():
        folder.mkdir()
        for name in names:
            (folder / name).touch()
        settings = {} if is_own else {"video_folder": str(folder)}
        env = recorder(tmp_path, **settings)
        assert len(list(folder.iterdir())) == 3, "nothing was recorded yet"
        play(env, 2)
        env.close()
        left = names[1:] if is_own else names
        assert sorted(path.name for path in folder.iterdir()) == sorted(left)


def test_a_full_disk_costs_the_video_and_is_told_at_the_border(
    films: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError("No space left on device")

    env = recorder(tmp_path, every_steps=5, video_length=3)
    monkeypatch.setattr(Frames, "add", full)
    play(env, 4)
    monkeypatch.undo()
    monkeypatch.setattr(videos_module, "film", Frames)
    with pytest.raises(OSError, match="No space left"):
        env._videos.rlk_update_end()
    play(env, 9)
    assert list(films) == ["rl-video-step-5-to-step-8.mp4", "rl-video-step-10-to-step-13.mp4"]


def test_a_disk_that_is_full_at_its_beginning_costs_the_video_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(**_: object) -> None:
        raise OSError("No space left on device")

    env = recorder(tmp_path)
    monkeypatch.setattr(tempfile, "NamedTemporaryFile", full)
    play(env, 2)
    with pytest.raises(OSError, match="No space left"):
        env._videos.rlk_update_end()


def test_environments_without_images_are_refused(tmp_path: Path) -> None:
    with pytest.raises(PlanError, match=r"render_mode=None \(they know: rgb_array\)"):
        VideoRecorder(StandInVecEnv([Walk]), out=str(tmp_path))


class Renders(Walk):
    """Renders what it is given."""

    def __init__(self, rendered: Any) -> None:
        super().__init__(render_mode="rgb_array")
        self.rendered = rendered

    def render(self) -> Any:
        return self.rendered


def test_grey_images_are_filmed_and_what_is_no_image_is_named(films: Any, tmp_path: Path) -> None:
    grey = VideoRecorder(StandInVecEnv([lambda: Renders(np.zeros((4, 5), np.uint8))]), out=tmp_path)
    play(grey, 2)
    grey.close()
    assert {frame.shape for frames in films.values() for frame in frames} == {(4, 5, 3)}
    floats = VideoRecorder(StandInVecEnv([lambda: Renders(np.zeros((4, 5, 3)))]), out=tmp_path)
    with pytest.raises(
        RlkError, match=r"video-recorder.*environment 0 rendered float64 \[4, 5, 3\]"
    ):
        play(floats, 2)


def test_without_a_folder_it_says_that_it_records_nothing(films: Any) -> None:
    with pytest.warns(UserWarning, match=r"records nothing.*video_folder"):
        env = VideoRecorder(StandInVecEnv([lambda: Walk(render_mode="rgb_array")]))
        play(env, 3)
    assert not films


@pytest.mark.parametrize("of_rank", [0, 1])
def test_of_several_ranks_only_the_first_warns_that_it_has_no_folder(
    films: Any, of_rank: int
) -> None:
    class Rank(OneProcess):
        rank = of_rank

    class Ranks:
        @hookimpl
        def rlk_make_communicator(self) -> Any:
            return Rank()

    plugins = [Ranks(), "video-recorder"]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        with rlk.make(
            "stand-in", kernel=KERNEL, env="rlk_testing.environments:Walk", plugins=plugins
        ) as agent:
            agent.learn(8)
    told = [one for one in caught if "records nothing" in str(one.message)]
    assert len(told) == (1 if of_rank == 0 else 0) and not films


def test_a_plan_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name, *_: None)
    with pytest.raises(PlanError, match=r'pip install "rlk-wrappers\[video\]"'):
        can_write_videos(VideoRecorderConfig(), None)  # type: ignore[arg-type]


def test_settings_that_record_nothing_are_refused() -> None:
    with pytest.raises(ValueError, match="say when to record"):
        VideoRecorderConfig(every_steps=None)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        VideoRecorderConfig(every_steps=None, every_episodes=1)
