from __future__ import annotations

import os
import subprocess
import sys

import pytest

from rlk_films import display_problem, without_display
from rlk_films.display import DISPLAYS

DRAWS = """
import gymnasium as gym
from rlk_films import without_display
env = gym.make("CartPole-v1", render_mode="rgb_array")
env.reset(seed=0)
with without_display():
    print(env.render().shape)
"""


@pytest.fixture
def nowhere(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in DISPLAYS:
        monkeypatch.delenv(name, raising=False)


@pytest.mark.parametrize(
    ("platform", "name", "value", "found"),
    [
        ("linux", "DISPLAY", "", False),
        ("linux", "DISPLAY", ":0", True),
        ("linux", "WAYLAND_DISPLAY", "wayland-0", True),
        ("linux", "SDL_VIDEODRIVER", "dummy", True),
        ("darwin", "DISPLAY", "", True),
    ],
)
def test_displays_are_found(
    nowhere: None,
    monkeypatch: pytest.MonkeyPatch,
    platform: str,
    name: str,
    value: str,
    found: bool,
) -> None:
    monkeypatch.setattr(sys, "platform", platform)
    monkeypatch.setenv(name, value)
    assert (display_problem() is None) is found


def test_without_a_display_none_is_looked_for(nowhere: None) -> None:
    before = dict(os.environ)
    with without_display():
        assert os.environ.get("SDL_VIDEODRIVER") == ("dummy" if sys.platform == "linux" else None)
    assert dict(os.environ) == before


@pytest.mark.skipif(sys.platform != "linux", reason="only on Linux")
def test_an_empty_name_is_no_display(nowhere: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DISPLAY", "")
    with without_display():
        assert os.environ["SDL_VIDEODRIVER"] == "dummy"


@pytest.mark.parametrize("name", ["SDL_VIDEODRIVER", "DISPLAY", "WAYLAND_DISPLAY"])
def test_a_display_that_is_there_stays(
    nowhere: None, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setenv(name, ":7")
    before = dict(os.environ)
    with without_display():
        assert dict(os.environ) == before


@pytest.mark.skipif(sys.platform != "linux", reason="only on Linux")
@pytest.mark.parametrize("driver", [None, "pulseaudio"])
def test_no_sound_is_looked_for_unless_the_user_says_where(
    nowhere: None, monkeypatch: pytest.MonkeyPatch, driver: str | None
) -> None:
    monkeypatch.delenv("SDL_AUDIODRIVER", raising=False)
    if driver is not None:
        monkeypatch.setenv("SDL_AUDIODRIVER", driver)
    with without_display():
        assert os.environ["SDL_AUDIODRIVER"] == (driver or "dummy")
    assert os.environ.get("SDL_AUDIODRIVER") == driver


def test_frames_are_drawn_and_nothing_is_complained_of(nowhere: None) -> None:
    pytest.importorskip("pygame")
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", DRAWS], capture_output=True, text=True, check=True
    )
    assert done.stdout.endswith("(400, 600, 3)\n") and done.stderr == ""
