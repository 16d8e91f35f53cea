"""Which images a film has, and what they may be."""

from __future__ import annotations

import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import cloudpickle
import gymnasium as gym
import numpy as np
import pytest
from gymnasium import spaces

import rlk
from rlk.errors import RlkError
from rlk_evaluate import film as module
from rlk_evaluate.film import record
from rlk_evaluate.rendering import rendering
from rlk_films import tiled

cloudpickle.register_pickle_by_value(sys.modules[__name__])  # workers cannot import it

LENGTH = 4
WORKERS = {"vec_env": "subprocess", "vec_env.start_method": "fork"}


class Counts(gym.Env[Any, Any]):
    """Episodes of four steps, whose images show how many were taken."""

    metadata = {"render_modes": ["rgb_array"]}
    observation_space = spaces.Box(-1, 1, (2,), np.float32)
    action_space = spaces.Discrete(2)

    def __init__(
        self, render_mode: str | None = None, form: str = "colour", cut_off: bool = False
    ) -> None:
        self.render_mode, self.form, self.cut_off, self.t = render_mode, form, cut_off, 0

    def reset(self, *, seed: Any = None, options: Any = None) -> Any:
        super().reset(seed=seed)
        self.t = 0
        return np.zeros(2, np.float32), {}

    def step(self, action: Any) -> Any:
        self.t += 1
        ended = self.t == LENGTH
        return np.zeros(2, np.float32), 1.0, ended and not self.cut_off, ended and self.cut_off, {}

    def render(self) -> Any:
        if self.form == "missing":
            raise gym.error.DependencyNotInstalled("pygame is not installed")
        shape = {"grey": (6, 8), "one": (6, 8, 1), "alpha": (6, 8, 4), "two": (6, 8, 2)}
        frame = np.full(shape.get(self.form, (6, 8, 3)), self.t, np.uint8)
        return {"float": frame / 255, "list": frame.tolist()}.get(self.form, frame)


class Frames:
    """A film that keeps its images."""

    def __init__(self) -> None:
        self.all: list[np.ndarray] = []

    def add(self, frame: np.ndarray) -> None:
        self.all.append(frame)

    def __enter__(self) -> Frames:
        return self

    def __exit__(self, *_: Any) -> None:
        """Nothing to end."""


def filmed(monkeypatch: pytest.MonkeyPatch, form: str = "colour", **settings: Any) -> Frames:
    frames = Frames()
    monkeypatch.setattr(module, "film", lambda path, fps: frames)
    with rlk.make("a2c", env=Counts, **{"env.form": form, **settings}) as agent:
        record(agent, Path("film.gif"), episodes=2)
    return frames


@pytest.mark.parametrize("settings", [{}, WORKERS, {"env.cut_off": True}])
def test_every_episode_is_shown_from_its_reset_to_its_last_step(
    monkeypatch: pytest.MonkeyPatch, settings: dict[str, Any]
) -> None:
    found = filmed(monkeypatch, **settings)
    assert [int(frame[0, 0, 0]) for frame in found.all] == [*range(LENGTH + 1)] * 2


def test_a_film_is_as_fast_as_the_environment_says(monkeypatch: pytest.MonkeyPatch) -> None:
    speeds: list[float] = []

    def noted(path: Path, fps: float) -> Frames:
        speeds.append(fps)
        return Frames()

    monkeypatch.setattr(module, "film", noted)
    for own in ({}, {"render_fps": 12}):
        monkeypatch.setattr(Counts, "metadata", {"render_modes": ["rgb_array"], **own})
        with rlk.make("a2c", env=Counts) as agent:
            record(agent, Path("film.gif"), episodes=1)
    assert speeds == [30.0, 12.0]


@pytest.mark.parametrize("form", ["grey", "one", "alpha"])
def test_other_images_are_made_colours(monkeypatch: pytest.MonkeyPatch, form: str) -> None:
    found = filmed(monkeypatch, form)
    assert {frame.shape for frame in found.all} == {(6, 8, 3)}
    assert tiled(found.all[:1]).shape == (6, 8, 3)


@pytest.mark.parametrize(
    ("form", "told"),
    [
        ("float", r"rendered float64 \[6, 8, 3\], and a film takes images uint8"),
        ("two", r"rendered uint8 \[6, 8, 2\]"),
        ("list", r"rendered list, .* Let its render\(\) return such an array"),
    ],
)
def test_what_is_no_image_is_named(monkeypatch: pytest.MonkeyPatch, form: str, told: str) -> None:
    with pytest.raises(RlkError, match=told):
        filmed(monkeypatch, form)


@pytest.mark.parametrize("settings", [{}, WORKERS])
def test_a_package_that_images_need_is_named_from_a_worker_too(
    monkeypatch: pytest.MonkeyPatch, settings: dict[str, Any]
) -> None:
    told = r"^Counts cannot be shown: pygame is not installed\.\nUse --no-render"
    with pytest.raises(RlkError, match=told):
        filmed(monkeypatch, "missing", **settings)


def test_an_environment_that_was_passed_as_an_object_is_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with rlk.make("a2c", env=Counts()) as agent, pytest.raises(RlkError, match="cannot record"):
        record(agent, Path("film.gif"))


def test_what_gives_only_frames_through_an_adapter_is_not_shown_in_a_window() -> None:
    adapter = SimpleNamespace(name="adapting", component=SimpleNamespace(adapts=bool))
    plan = SimpleNamespace(env=SimpleNamespace(name="Counts"), wrappers=(adapter,))
    env = SimpleNamespace(metadata={"render_modes": ["rgb_array"]})
    agent: Any = SimpleNamespace(plan=plan, run=SimpleNamespace(env=env))
    told = r"in the wrapper adapting, gives images.*--record"
    with pytest.raises(RlkError, match=told), rendering(agent, "human"):
        raise AssertionError("it was shown")
    with rendering(agent, "rgb_array"):
        pass
