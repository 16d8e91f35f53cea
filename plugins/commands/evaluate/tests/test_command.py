"""`rlk evaluate` and `rlk enjoy`, on a run that a small agent left."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from PIL import Image

import rlk
from rlk.registry.kernel import default_kernel
from rlk_evaluate.command import enjoy, evaluate
from rlk_films.writer import mp4_is_there
from rlk_testing.environments import Walk
from rlk_testing.tools.command_line import ended
from rlk_testing.tools.forks import ForkServer

WALK = "rlk_testing.environments:Walk"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What a short run leaves; the environment is code, which must be named again."""
    out = tmp_path_factory.mktemp("runs") / "run"
    settings: dict[str, Any] = {"n_steps": 8, "nminibatches": 1, "seed": 3, "n_threads": 1}
    with rlk.make("ppo2", env=WALK, out=str(out), plugins=["no:table"], **settings) as agent:
        agent.learn(16)
        agent.save(out / "best_model")
    return out


def called(command: Any, *arguments: object) -> Result:
    return CliRunner().invoke(command, [str(argument) for argument in arguments])


def refused(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, str]:
    """The exit code of the whole command line, and what it says."""
    return ended(*arguments), capsys.readouterr().err


NOISY = """
from rlk_testing.environments import Walk

class Noisy(Walk):
    def reset(self, **keywords):
        print("a new episode")
        return super().reset(**keywords)
"""


def test_what_an_environment_prints_is_not_in_the_json(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "noisy.py").write_text(NOISY)
    place = f"{tmp_path / 'noisy.py'}:Noisy"
    result = called(evaluate, folder, "--env", place, "--episodes", 1, "--json")
    assert json.loads(result.stdout)["episodes"] == 1
    assert "a new episode" in result.stderr


def test_a_folder_to_write_to_is_refused(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "zzz"
    code, said = refused(capsys, "evaluate", folder, "--env", WALK, "--set", f"out={out}")
    assert code == 2 and "--set out: nothing is written here" in said
    assert not out.exists()


def test_json_has_exactly_what_programs_are_told(folder: Path) -> None:
    result = called(evaluate, folder, "--env", WALK, "--episodes", 3, "--seed", 5, "--json")
    figures = json.loads(result.stdout)
    assert set(figures) == {
        "mean_return",
        "std_return",
        "episodes",
        "mean_length",
        "model",
        "deterministic",
        "seed",
    }
    assert (figures["episodes"], figures["seed"], figures["deterministic"]) == (3, 5, True)
    assert figures["model"] == str(folder / "model.zip")


def test_the_same_seed_gives_the_same_figures(folder: Path) -> None:
    texts = [
        called(evaluate, folder, "--env", WALK, "--stochastic", *seed, "--json").stdout
        for seed in (("--seed", 5), ("--seed", 5), ("--seed", 6), (), ("--seed", 3))
    ]
    figures = [json.loads(text) for text in texts]
    assert figures[0] == figures[1]
    assert figures[0]["mean_return"] != figures[2]["mean_return"]
    # Without one it is the run's own, in a stream of its own.
    assert figures[3] == figures[4]


def test_people_get_a_small_table(folder: Path) -> None:
    text = called(evaluate, folder, "--env", WALK, "--best", "--n-envs", 2).stdout
    assert str(folder / "best_model.zip") in text
    for name in ("mean_return", "std_return", "episodes", "mean_length", "16 timesteps"):
        assert name in text


def test_run_is_a_folder_a_model_or_a_checkpoint(folder: Path) -> None:
    for run in (folder, folder / "model.zip", folder / "checkpoints" / "16.zip"):
        assert called(evaluate, run, "--env", WALK, "--episodes", 1).exit_code == 0


def test_settings_reach_the_environment(folder: Path) -> None:
    length = ("--set", "env.length=2", "--episodes", 5, "--json")
    figures = json.loads(called(evaluate, folder, "--env", WALK, *length).stdout)
    assert figures["mean_length"] <= 2.0


@pytest.mark.parametrize(
    ("arguments", "code", "says"),
    [
        (["{run}/nowhere"], 1, "does not exist"),
        (["{run}"], 2, "--env"),
        (["{run}/model.zip", "--best", "--env", WALK], 2, "is a file"),
        (["{run}", "--env", WALK, "--env", "CartPole-v1"], 2, "give one environment"),
        (["{run}/..", "--env", WALK], 1, "no model.zip"),
        (["{run}", "--env", WALK, "--set", "env.lenth=3"], 2, "lenth"),
        (["{run}", "--env", WALK, "--episodes", "0"], 2, "--episodes"),
        (["{run}", "--env", WALK, "--plugin", "monitr"], 2, "'monitor'"),
    ],
)
def test_what_is_refused_says_why(
    folder: Path, arguments: list[str], code: int, says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    found, text = refused(capsys, "evaluate", *[one.format(run=folder) for one in arguments])
    assert says in text
    assert found == code
    assert "Traceback" not in text


def test_best_without_a_best_model_is_an_error(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "model.zip").write_bytes((folder / "model.zip").read_bytes())
    code, text = refused(capsys, "evaluate", tmp_path, "--best", "--env", WALK)
    assert code == 1
    assert "--plugin evaluation" in text


def test_enjoy_prints_every_episode_of_the_best_model(folder: Path) -> None:
    result = called(enjoy, folder, "--env", WALK, "--episodes", 2, "--no-render")
    first, *episodes, last = result.stdout.splitlines()
    assert first == f"{folder / 'best_model.zip'} plays {WALK}"
    assert [line.split()[:2] for line in episodes] == [["episode", "1"], ["episode", "2"]]
    assert last.startswith("mean return")
    result = called(enjoy, folder, "--env", WALK, "--episodes", 1, "--no-render", "--last")
    assert str(folder / "model.zip") in result.stdout


def test_enjoy_records_a_gif(folder: Path, tmp_path: Path) -> None:
    film = tmp_path / "film.gif"
    result = called(enjoy, folder, "--env", WALK, "--episodes", 1, "--record", film)
    assert result.exit_code == 0, result.output
    with Image.open(film) as image:
        assert image.size == (4, 4)
        assert image.n_frames > 1


def test_enjoy_opens_the_environments_own_window(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DISPLAY", ":0")
    modes = []
    monkeypatch.setattr(Walk, "metadata", {"render_modes": ["human", "rgb_array"]})
    reset = Walk.reset

    def watched(self: Walk, **keywords: Any) -> Any:
        modes.append(self.render_mode)
        return reset(self, **keywords)

    monkeypatch.setattr(Walk, "reset", watched)
    result = called(enjoy, folder, "--env", WALK, "--episodes", 1)
    assert result.exit_code == 0, result.output
    assert "human" in modes


@pytest.fixture(scope="module")
def cart_pole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What a short run in an environment with a window of its own leaves."""
    out = tmp_path_factory.mktemp("runs") / "cart-pole"
    settings: dict[str, Any] = {"n_steps": 8, "nminibatches": 1, "seed": 3, "n_threads": 1}
    with rlk.make(
        "ppo2", env="CartPole-v1", out=str(out), plugins=["no:table"], **settings
    ) as agent:
        agent.learn(16)
    return out


#: `rlk`, with SDL's driver for machines without a display; prints how often a frame was shown.
WATCHED = """
import os, sys
os.environ["SDL_VIDEODRIVER"] = os.environ["SDL_AUDIODRIVER"] = "dummy"
import pygame
from rlk_cli.main import main
flip, frames = pygame.display.flip, []
def counted():
    size = pygame.display.get_surface().get_size()
    frames.append((pygame.display.get_driver(), *size))
    flip()
pygame.display.flip = counted
try:
    main(sys.argv[1:])
finally:
    print('frames', len(frames), *set(frames))
"""


def test_a_window_shows_every_frame_of_an_episode(
    cart_pole: Path, tmp_path: Path, rlk_forks: ForkServer
) -> None:
    program = tmp_path / "watched.py"
    program.write_text(WATCHED)
    with rlk_forks.start(program, "enjoy", cart_pole, "--episodes", 1, cwd=tmp_path) as running:
        printed, _ = running.communicate(timeout=120)
    assert running.returncode == 0, printed
    plays, episode, mean, frames = printed.splitlines()[-4:]
    assert plays == f"{cart_pole / 'model.zip'} plays CartPole-v1"
    assert mean.startswith("mean return")
    word, count, seen = frames.split(maxsplit=2)
    assert (word, seen) == ("frames", "('dummy', 600, 400)")
    assert int(count) >= int(episode.split()[-1]) > 5


def test_without_pygame_it_says_what_to_install(
    cart_pole: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")
    for name in [name for name in sys.modules if name.split(".")[0] == "pygame"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "pygame", None)
    code, text = refused(capsys, "enjoy", cart_pole, "--episodes", "1")
    assert code == 1
    assert "CartPole-v1 cannot be shown" in text
    assert 'pip install "gymnasium[classic-control]"' in text
    assert "--no-render" in text
    code, text = refused(capsys, "enjoy", cart_pole, "--record", cart_pole / "film.gif")
    assert code == 1 and 'pip install "gymnasium[classic-control]"' in text
    assert not (cart_pole / "film.gif").exists()


def test_a_film_of_an_environment_with_a_window_has_a_frame_of_every_step(cart_pole: Path) -> None:
    film = cart_pole / "film.gif"
    result = called(enjoy, cart_pole, "--episodes", 1, "--record", film)
    assert result.exit_code == 0, result.output
    length = int(result.stdout.splitlines()[1].split()[-1])
    with Image.open(film) as image:
        assert image.size == (600, 400)
        shown = []
        for number in range(image.n_frames):
            image.seek(number)
            shown.append(image.info["duration"])
    # Pillow shows a frame that is like the one before it for longer.
    assert sum(shown) >= 20 * length > 100


@pytest.mark.parametrize("film", ["film.avi", "film", "nowhere/film.gif"])
def test_a_film_that_cannot_be_written_is_refused_before_it_is_played(
    folder: Path, tmp_path: Path, film: str, capsys: pytest.CaptureFixture[str]
) -> None:
    code, text = refused(capsys, "enjoy", folder, "--env", WALK, "--record", tmp_path / film)
    assert code == 1
    assert ".gif" in text or "nowhere" in text


@pytest.mark.skipif(not mp4_is_there(), reason="imageio-ffmpeg is not installed")
def test_an_mp4_has_a_frame_of_every_step(cart_pole: Path, tmp_path: Path) -> None:
    from imageio_ffmpeg import count_frames_and_secs

    file = tmp_path / "film.mp4"
    result = called(enjoy, cart_pole, "--episodes", 1, "--record", file)
    assert result.exit_code == 0, result.output
    length = int(result.stdout.splitlines()[1].split()[-1])
    assert count_frames_and_secs(str(file))[0] == length + 1  # the first is of the reset


def test_a_film_that_is_not_written_is_no_traceback(
    folder: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    def full(*_: object) -> None:
        raise OSError("No space left on device")

    monkeypatch.setattr("rlk_films.writer._Gif.end", full)
    file = tmp_path / "film.gif"
    code, text = refused(capsys, "enjoy", folder, "--env", WALK, "--record", file)
    assert code == 1 and "film.gif could not be written: No space left" in text


def test_no_render_and_record_contradict_each_other(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, text = refused(capsys, "enjoy", folder, "--no-render", "--record", "a.gif")
    assert code == 2
    assert "contradict" in text


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="only Linux tells before it tries")
def test_without_a_display_it_says_what_to_do(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("DISPLAY", "WAYLAND_DISPLAY", "SDL_VIDEODRIVER"):
        monkeypatch.delenv(name, raising=False)
    code, text = refused(capsys, "enjoy", folder, "--env", WALK)
    assert code == 1
    assert "--no-render" in text
    assert "--record" in text


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="only Linux tells before it tries")
def test_a_run_that_is_not_there_is_said_before_a_missing_display(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("DISPLAY", "WAYLAND_DISPLAY", "SDL_VIDEODRIVER"):
        monkeypatch.delenv(name, raising=False)
    code, text = refused(capsys, "enjoy", folder / "nowhere")
    assert code == 1
    assert "nowhere does not exist" in text
    assert "display" not in text


def test_of_a_folder_of_runs_one_is_named(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, text = refused(capsys, "evaluate", folder.parent)
    assert code == 1
    assert f"It holds run folders; name one of them: {folder}" in text


def test_an_environment_of_other_spaces_is_said_to_be_one(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, text = refused(capsys, "evaluate", folder, "--env", "Acrobot-v1")
    assert code == 2
    assert f"was trained on {WALK!r}, whose observation_space is Box((3,)" in text
    assert "but that of 'Acrobot-v1' is Box((6,), float32)" in text


def test_an_environment_of_other_actions_is_said_to_be_one(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, text = refused(capsys, "evaluate", folder, "--env", "Pendulum-v1")
    assert code == 2
    assert "Use an environment that has the spaces of training." in text and "list" not in text


def test_an_environment_without_pictures_says_so(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("DISPLAY", ":0")
    monkeypatch.setattr(Walk, "metadata", {"render_modes": []})
    code, text = refused(capsys, "enjoy", folder, "--env", WALK)
    assert code == 1
    assert "--no-render" in text


def test_an_environment_that_takes_no_render_mode_says_so(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("DISPLAY", ":0")
    made = Walk.__init__
    monkeypatch.setattr(Walk, "__init__", lambda self: made(self))
    code, text = refused(capsys, "enjoy", folder, "--env", WALK)
    assert code == 1
    assert "cannot be made with render_mode='human'" in text and "--no-render" in text


def test_the_components_name_the_commands() -> None:
    commands = default_kernel().registries.commands
    assert commands.get("evaluate").component().load() is evaluate
    assert commands.get("enjoy").component().load() is enjoy


@pytest.mark.parametrize("command", ["evaluate", "enjoy"])
def test_a_negative_seed_is_refused(
    cart_pole: Path, capsys: pytest.CaptureFixture[str], command: str
) -> None:
    code, text = refused(capsys, command, cart_pole, "--seed", "-1")
    assert code == 2 and "-1 is not in the range x>=0" in text
