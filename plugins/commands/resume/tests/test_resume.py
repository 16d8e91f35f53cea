"""`rlk resume`, on what short runs left."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import rlk
from rlk_cli.run import run
from rlk_model_files.locate import checkpoints
from rlk_resume.command import resume
from rlk_testing.tools.command_line import ended

WALK = "rlk_testing.environments:Walk"


@pytest.fixture(scope="module")
def left(trained: Callable[..., int], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a run of 60 timesteps, with checkpoints at 30 and 60."""
    out = tmp_path_factory.mktemp("runs") / "run"
    checkpoint = ["--plugin", "checkpoint:every=30"]
    assert trained(*checkpoint, "--timesteps", 60, "--out", out) == 0
    assert [path.stem for path in checkpoints(out, ".zip")] == ["30", "60"]
    return out


def parameters(model: Path) -> dict[str, np.ndarray]:
    with rlk.load(model) as agent:
        return agent.get_parameters()


def test_a_resumed_run_ends_as_the_uninterrupted_one(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    uninterrupted = parameters(folder / "model.zip")
    (folder / "checkpoints" / "60.zip").unlink()
    assert ended("resume", folder) == 0
    resumed = parameters(folder / "model.zip")
    assert uninterrupted.keys() == resumed.keys()
    assert all(np.array_equal(resumed[name], uninterrupted[name]) for name in resumed)
    printed = capsys.readouterr().out
    assert (
        f"dqn on CartPole-v1 continues from {folder}/checkpoints/30.zip at 30 timesteps" in printed
    )
    assert "not as before" not in printed
    assert "done: 30 timesteps in " in printed


def test_a_checkpoint_within_its_own_folder_is_known_by_its_name_alone(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder / "checkpoints")
    (folder / "model.zip").unlink()
    assert ended("resume", "30.zip", "--quiet") == 0
    assert (folder / "model.zip").exists()
    assert not (folder / "checkpoints" / "progress.csv").exists()


def test_a_checkpoint_in_no_run_folder_asks_where_to_go_on(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    moved = Path(shutil.move(folder / "checkpoints" / "30.zip", tmp_path / "mine.zip"))
    assert ended("resume", moved) == 2
    assert f"rlk resume {moved} --out DIR" in capsys.readouterr().err
    assert sorted(path.name for path in tmp_path.iterdir()) == ["mine.zip", "run"]


def test_a_run_that_is_done_says_how_to_go_further(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert ended("resume", folder, "--set", "gamma=0.5") == 0
    assert (
        "the run ended at 60 timesteps. To train longer, give --timesteps"
        in capsys.readouterr().out
    )
    assert not list(folder.glob("plan-from-*")), "nothing was trained with the other setting"
    assert ended("resume", folder, "--quiet") == 0
    assert capsys.readouterr().out == ""
    assert ended("resume", folder, "--timesteps", 90, "--quiet") == 0
    assert capsys.readouterr().out == ""
    assert [path.stem for path in checkpoints(folder, ".zip")] == ["30", "60", "90"]


def test_schedules_of_a_run_that_is_done_are_not_said_to_move(
    trained: Callable[..., int], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "run"
    more = ["--set", "learning_rate=lin_0.01", "--plugin", "checkpoint:every=30"]
    assert trained(*more, "--timesteps", 60, "--out", out) == 0
    assert ended("resume", out / "checkpoints" / "60.zip", "--timesteps", 20) == 0
    printed = capsys.readouterr().out
    assert "the run ended at 60 timesteps" in printed and "schedules end" not in printed


def test_schedules_that_move_because_of_another_end_are_named(
    trained: Callable[..., int], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "run"
    more = ["--set", "learning_rate=lin_0.01", "--set", "exploration_fraction=1.0"]
    arguments = [*more, "--plugin", "prioritized-replay", "--timesteps", 30, "--out", out]
    assert trained(*arguments) == 0
    assert ended("resume", out, "--timesteps", 40) == 0
    printed = capsys.readouterr().out
    (line,) = [line for line in printed.splitlines() if "schedules end" in line]
    assert line == (
        "  schedules end at 40 timesteps now, not at 30: learning_rate 0 to 0.0025, "
        "exploration_rate 0.02 to 0.265, priority_beta 1 to 0.85"
    )


def test_no_schedule_moves_where_the_end_is_the_planned_one(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "checkpoints" / "60.zip").unlink()
    assert ended("resume", folder) == 0
    assert "schedules end" not in capsys.readouterr().out


def test_a_run_that_had_no_folder_is_saved_when_it_is_resumed(tmp_path: Path) -> None:
    with rlk.make("a2c", env="CartPole-v1", total_timesteps=40) as agent:
        path = agent.learn(20).save_checkpoint(tmp_path / "checkpoints" / "20")
    assert ended("resume", path, "--quiet") == 0
    assert [path.stem for path in checkpoints(tmp_path, ".zip")] == ["20", "40"]
    assert (tmp_path / "model.zip").exists() and (tmp_path / "progress.csv").exists()


def test_an_older_checkpoint_can_be_named(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert ended("resume", folder / "checkpoints" / "30.zip", "--timesteps", 40) == 0
    assert "at 30 timesteps" in capsys.readouterr().out
    assert "40" in [path.stem for path in checkpoints(folder, ".zip")]


def test_it_takes_what_run_takes_but_for_what_makes_another_run() -> None:
    names = [{option.name for option in command.params} for command in (run, resume)]
    assert names[0] - names[1] == {"spec_file", "algo", "n_envs", "preset"}
    assert names[1] - names[0] == {"run"}


def test_it_prints_more_if_asked(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["--timesteps", 70, "-vv", "--log-interval", 1, "--vec-env", "subprocess"]
    assert ended("resume", folder, *arguments) == 0
    assert "vec_env       subprocess" in capsys.readouterr().out


def test_another_component_takes_the_place_of_a_saved_one_with_settings(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert ended("resume", folder, "--timesteps", 70, "--vec-env", "subprocess", "--quiet") == 0
    assert ended("resume", folder, "--timesteps", 80, "--vec-env", "dummy", "-vv") == 0
    assert "vec_env       dummy" in capsys.readouterr().out


def test_it_explains_what_would_be_run(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = sorted(folder.rglob("*"))
    assert ended("resume", folder, "--timesteps", 70, "--explain") == 0
    printed = capsys.readouterr().out
    assert "total_timesteps 70" in printed and "storage       replay" in printed
    assert "continues from" not in printed and sorted(folder.rglob("*")) == before


def test_a_state_that_does_not_fit_names_the_settings_that_changed(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    changes = ["--set", "policy.layers=[4]", "--set", "gamma=0.5"]
    assert ended("resume", folder, "--timesteps", 70, *changes) == 1
    told = capsys.readouterr().err
    assert "shape" in told
    assert told.endswith("\nThis run changes gamma 0.99 to 0.5; mlp.layers [8] to [4].\n")


def test_a_policy_larger_than_the_saved_one_is_refused_before_it_is_built(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert ended("resume", folder, "--timesteps", 70, "--set", f"policy.layers=[{10**12}]") == 1
    told = capsys.readouterr().err
    assert "parameters, but the file holds 107.\nThis run changes mlp.layers [8] to [" in told


def test_a_failure_while_the_run_is_built_names_the_checkpoint(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def failing(*arguments: object) -> None:
        raise RuntimeError("no room")

    monkeypatch.setattr("rlk.agent.Agent", failing)
    assert ended("resume", folder, "--timesteps", 70) == 1
    says = "60.zip: the run that it describes cannot be built: RuntimeError: no room.\n"
    assert capsys.readouterr().err.endswith(says)


def test_settings_can_be_others_from_here_on(folder: Path) -> None:
    assert ended("resume", folder, "--timesteps", 70, "--set", "gamma=0.5", "--quiet") == 0
    with rlk.load(folder) as agent:
        assert agent.plan.algorithm.config.gamma == 0.5
        assert agent.num_timesteps == 70


def test_settings_that_change_are_printed_and_kept_beside_the_plan_of_the_start(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = (folder / "plan.json").read_text()
    arguments = ["--set", "gamma=0.5", "--set", "policy.layers=[8]", "--vec-env", "subprocess"]
    assert ended("resume", folder, "--timesteps", 70, *arguments) == 0
    printed = capsys.readouterr().out
    assert "  from here on: gamma 0.99 to 0.5\n" in printed
    assert "  from here on: vec_env dummy to subprocess\n" in printed
    assert "layers" not in printed and "total_timesteps" not in printed
    assert (folder / "plan.json").read_text() == before
    plan = json.loads((folder / "plan-from-60.json").read_text())
    assert plan["components"][0]["settings"]["gamma"] == 0.5

    (folder / "plan-from-65.json").touch()
    newest = folder / "checkpoints" / "60.zip"
    assert ended("resume", newest, "--timesteps", 70, "--set", "gamma=0.25", "--quiet") == 0
    assert sorted(path.name for path in folder.glob("plan-from-*")) == ["plan-from-60.json"]
    assert '"gamma": 0.25' in (folder / "plan-from-60.json").read_text()

    capsys.readouterr()
    assert ended("resume", folder, "--timesteps", 80) == 0
    assert "from here on" not in capsys.readouterr().out
    assert sorted(path.name for path in folder.glob("plan-from-*")) == ["plan-from-60.json"]


def test_a_new_seed_continues_with_other_random_numbers(folder: Path, tmp_path: Path) -> None:
    forks = {name: tmp_path / name for name in ("a", "b", "again")}
    for seed, fork in zip((1, 2, 1), forks.values(), strict=True):
        arguments = ["--timesteps", 90, "--seed", seed, "--out", fork, "--quiet"]
        assert ended("resume", folder, *arguments) == 0
    rows = {
        name: (fork / "monitor.csv").read_text().split("\n", 1)[1] for name, fork in forks.items()
    }
    assert rows["a"] != rows["b"]
    ends = {name: parameters(fork / "model.zip") for name, fork in forks.items()}
    assert all(np.array_equal(ends["a"][name], ends["again"][name]) for name in ends["a"])
    assert any(not np.array_equal(ends["a"][name], ends["b"][name]) for name in ends["a"])


def test_another_number_of_environments_is_refused(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert ended("resume", folder, "--timesteps", 70, "--set", "n_envs=2") == 1
    said = " ".join(capsys.readouterr().err.split())
    assert "has the state of 1 environment, and this run has 2. Resume it with n_envs=1" in said


def test_an_environment_with_other_spaces_is_refused(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    further = ("--env", "Acrobot-v1", "--timesteps", 70, "--out", tmp_path / "fork")
    assert ended("resume", folder, *further) == 2
    said = " ".join(capsys.readouterr().err.split())
    assert "on 'CartPole-v1', whose observation_space is Box((4,), float32), but" in said
    assert "of 'Acrobot-v1' is Box((6,), float32). Use an environment that has the same" in said
    assert not (tmp_path / "fork").exists()


def test_what_will_not_be_as_before_is_said(
    trained: Callable[..., int], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "run"
    assert trained("--plugin", "checkpoint:replay=false", "--timesteps", 30, "--out", out) == 0
    assert ended("resume", out, "--timesteps", 40) == 0
    assert "  not as before: the replay was left out of the checkpoint" in capsys.readouterr().out


def test_an_environment_that_is_code_is_named_again(
    trained: Callable[..., int], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "run"
    assert trained("--env", WALK, "--timesteps", 30, "--out", out) == 0
    assert ended("resume", out, "--timesteps", 40) == 2
    assert f"--env {WALK}" in capsys.readouterr().err
    assert ended("resume", out, "--timesteps", 40, "--env", WALK, "--quiet") == 0


@pytest.mark.parametrize(
    ("place", "says"),
    [
        ("nowhere", "does not exist"),
        ("run/model.zip", "is not a checkpoint. Type: rlk resume {runs}/run\n"),
        ("a run/model.zip", "is not a checkpoint. Type: rlk resume '{runs}/a run'\n"),
        ("alone/model.zip", "is not a checkpoint. A model alone cannot be resumed"),
        ("ended", "holds no checkpoint. A model alone cannot be resumed"),
        ("killed", "killed holds no model.zip and no checkpoint. It is the folder of a run that"),
        ("empty", "empty holds no model.zip and no checkpoint.\n"),
        (".", "It holds run folders; name one of them: "),
        ("run/plan.json", "no installed serializer reads '.json' files"),
    ],
)
def test_what_is_no_checkpoint_is_refused(
    folder: Path, place: str, says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    runs = folder.parent
    shutil.copytree(folder, runs / "a run")
    for name in ("alone", "ended", "empty", "killed"):
        (runs / name).mkdir()
    for name in ("ended", "killed"):
        shutil.copy(folder / "plan.json", runs / name)
    for copy in ("alone/model.zip", "ended/model.zip"):
        shutil.copy(folder / "model.zip", runs / copy)
    assert ended("resume", runs / place) == 1
    assert says.format(runs=runs) in capsys.readouterr().err


def test_how_much_is_printed_may_be_set(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert ended("resume", folder, "--timesteps", 70, "--set", "verbose=0") == 0
    assert capsys.readouterr().out == ""


def half(data: bytes) -> bytes:
    return data[: len(data) // 2]


def all_but_its_end(data: bytes) -> bytes:
    return data[:-100]


def changed_in_its_tensors(data: bytes) -> bytes:
    at = data.index(b"tensors.safetensors") + 5000
    return data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :]


@pytest.mark.parametrize("damaged", [half, all_but_its_end, changed_in_its_tensors])
def test_the_one_before_a_damaged_checkpoint_is_named_and_goes_on(
    folder: Path, capsys: pytest.CaptureFixture[str], damaged: Callable[[bytes], bytes]
) -> None:
    folder = folder.rename(folder.with_name("my run"))
    newest, before = (folder / "checkpoints" / f"{at}.zip" for at in (60, 30))
    older = Path(shutil.copyfile(before, before.with_name("20.zip")))
    newest.write_bytes(damaged(newest.read_bytes()))
    assert ended("resume", folder, "--timesteps", 90) == 1
    said = " ".join(capsys.readouterr().err.split())
    assert str(newest) in said
    assert f"To continue from the one before it: rlk resume '{before}'" in said
    older.unlink()
    assert ended("resume", newest, "--timesteps", 90) == 1
    assert "the one before it" not in capsys.readouterr().err, "that one was asked for"
    assert ended("resume", before, "--timesteps", 90) == 0
    assert [path.stem for path in checkpoints(folder, ".zip")] == ["30", "60", "90"]


@pytest.mark.parametrize("code", [0, 4])
def test_who_takes_over_a_run_takes_over_when_it_is_resumed(
    folder: Path, tmp_path: Path, code: int
) -> None:
    plugin = tmp_path / "mine.py"
    plugin.write_text(
        "from pathlib import Path\nfrom rlk.hookspecs import hookimpl\n@hookimpl\n"
        f"def rlk_take_over(plan):\n    Path(plan.out, 'taken').touch()\n    return {code}\n"
    )
    before = json.loads((folder / "plan.json").read_text())
    arguments = ["--timesteps", 90, "--plugin", plugin]
    assert ended("resume", folder, *arguments, "--explain") == 0
    assert not (folder / "taken").exists()
    assert ended("resume", folder, *arguments) == code
    assert (folder / "taken").exists()
    assert json.loads((folder / "plan.json").read_text()) == before
    assert [path.stem for path in checkpoints(folder, ".zip")] == ["30", "60"]


def test_a_run_whose_serializer_is_not_installed_says_what_to_install(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    plan = json.loads((folder / "plan.json").read_text())
    (serializer,) = (one for one in plan["components"] if one["role"] == "serializer")
    serializer |= {"name": "sqlite", "dist": "rlk-sqlite", "version": "0.1.0"}
    (folder / "plan.json").write_text(json.dumps(plan))
    for path in checkpoints(folder, ".zip"):
        path.rename(path.with_suffix(".sqlite"))
    (folder / "model.zip").rename(folder / "model.sqlite")
    assert ended("resume", folder) == 1
    said = " ".join(capsys.readouterr().err.split())
    assert (
        "serializer 'sqlite' (rlk-sqlite 0.1.0): it is not installed here; pip install rlk-" in said
    )
