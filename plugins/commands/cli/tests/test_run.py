"""What `rlk run` says of a run before it trains."""

from __future__ import annotations

from pathlib import Path

import pytest

from rlk.planning.resolve import resolve
from rlk.planning.spec import make_spec
from rlk.registry.kernel import default_kernel
from rlk_cli.run import warn_of_no_callback
from rlk_testing.tools.command_line import ended


@pytest.mark.parametrize(
    ("plugins", "warns"), [((), True), (("checkpoint",), False), (("no:checkpoint",), False)]
)
def test_a_run_that_nothing_will_be_kept_of_says_so_unless_that_was_asked_for(
    plugins: tuple[str, ...], warns: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    spec = make_spec("a2c", {"env": "CartPole-v1", "plugins": plugins})
    # Without a folder, a plan is what an installation without rlk-callbacks makes.
    warn_of_no_callback(resolve(default_kernel(), spec))
    assert ("pip install rlk-callbacks" in capsys.readouterr().err) is warns


def test_the_folder_of_a_run_that_failed_before_it_began_can_be_named_again(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(FAILS)
    out, common = tmp_path / "run", ["--algo", "a2c", "--preset", "none", "--timesteps", 10]
    env = f"{tmp_path}/mine.py:Fails"
    assert ended("run", *common, "--out", out, "--env", env) != 0
    assert not out.exists()
    out.mkdir()
    assert ended("run", *common, "--out", out, "--env", env) != 0
    assert list(out.iterdir()) == []
    assert ended("run", *common, "--out", out, "--env", "CartPole-v1") == 0
    assert (out / "model.zip").is_file()


def test_a_run_that_was_killed_when_its_plan_was_written_can_be_typed_again(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "run"
    (out / "checkpoints").mkdir(parents=True)
    for name in (".owner", "plan.json", "spec.toml", "progress.csv"):
        (out / name).touch()
    assert ended(*RUN, "--out", out) == 2
    assert "exists and is not empty" in capsys.readouterr().err
    (out / "progress.csv").unlink()
    assert ended(*RUN, "--out", out) == 0
    assert (out / "model.zip").is_file() and (out / "plan.json").stat().st_size > 0


def test_a_refused_run_leaves_no_folder(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "run"
    assert ended(*RUN, "--out", out, "--device", "cdua") == 2
    assert "there is no device 'cdua'" in capsys.readouterr().err
    assert not out.exists()
    out.mkdir()
    assert ended(*RUN, "--out", out, "--device", "cdua") == 2
    assert list(out.iterdir()) == [], "the user's own folder stays"


RUN = ["run", "--algo", "a2c", "--env", "CartPole-v1", "--timesteps", 10, "--preset", "none"]


@pytest.mark.parametrize(("verbose", "lines"), [(0, 0), (1, 1), (2, 30)])
def test_how_much_is_printed_may_be_set_on_the_command_line_or_in_a_file(
    verbose: int, lines: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "spec.toml"
    file.write_text(f"verbose = {verbose}\n")
    for number, typed in enumerate((["--set", f"verbose={verbose}"], [file])):
        assert ended(*RUN, "--out", tmp_path / str(number), *typed) == 0
        printed = capsys.readouterr().out
        assert len(printed.splitlines()) >= lines
        assert bool(printed) is (verbose > 0)


def test_quiet_beside_another_verbosity_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert ended(*RUN, "--quiet", "--set", "verbose=1") == 2
    assert "are one setting with two values" in capsys.readouterr().err


def test_the_folder_of_a_recipe_has_its_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    env = ["--env", "rlk/BitFlipping-v0", "--seed", 3, "--timesteps", 10]
    assert ended("run", "--algo", "her", "--set", "model=dqn", *env, "--quiet") == 0
    (made,) = (tmp_path / "runs").iterdir()
    assert made.name.startswith("her-rlk_BitFlipping-v0-3-")


FAILS = """
from gymnasium.envs.classic_control import CartPoleEnv

class Fails(CartPoleEnv):
    def reset(self, **given):
        raise OSError("no simulator")
"""


def test_ctrl_c_before_the_run_has_begun_is_told(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("rlk.agent.Agent", interrupted)
    assert ended("run", "--algo", "ppo2", "--out", tmp_path / "run") == 130
    assert capsys.readouterr().err.strip() == "Stopped by Ctrl-C."
    assert not (tmp_path / "run").exists()
