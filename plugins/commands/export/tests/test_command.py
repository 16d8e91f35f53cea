"""`rlk export`, on a run that a small agent left."""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner
from shown_spaces import loaded_pt2

import rlk
from rlk_export.command import export
from rlk_testing.tools.command_line import ended

WALK = "rlk_testing.environments:Walk"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What a short run leaves; the environment is code, which must be named again."""
    out = tmp_path_factory.mktemp("runs") / "run"
    settings: dict[str, Any] = {"n_steps": 8, "nminibatches": 1, "seed": 3, "n_threads": 1}
    with rlk.make("ppo2", env=WALK, out=str(out), plugins=["no:table"], **settings) as agent:
        agent.learn(16)
    return out


def refused(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, str]:
    """The exit code of the whole command line, and what it says."""
    return ended(*arguments), capsys.readouterr().err


@pytest.mark.parametrize("env", [["--env", WALK], []])  # its spaces suffice
def test_it_writes_what_the_model_acts_with_and_says_what_goes_in(folder, tmp_path, env):
    out = tmp_path / "walk.pt2"
    result = CliRunner().invoke(export, [str(folder), "--out", str(out), *env])
    assert result.exit_code == 0, result.output
    assert ("only its spaces: this model's environment" in result.stderr) is (not env)
    first, given, action, compared = result.stdout.splitlines()
    assert first == f"wrote {out}"
    assert given.split()[:3] == ["input", "observation", "float32[batch,"]
    assert action.split()[:3] == ["output", "action", "int64[batch]"]
    assert compared == f"compared with {folder / 'model.zip'}, by torch: the same actions"
    with rlk.load(folder, env=WALK) as agent:
        observation = np.stack([agent.plan.observation_space.sample() for _ in range(5)])
        expected, _ = agent.predict(observation, deterministic=True)
    assert np.array_equal(loaded_pt2(out)(observation)["action"], expected)


def test_settings_plugins_and_the_cpu_are_handed_on_and_only_the_first_rank_writes(
    tmp_path, monkeypatch
):
    loaded = []

    def load(path, **how):
        loaded.append((path, how))
        rank = SimpleNamespace(run=SimpleNamespace(communicator=SimpleNamespace(rank=1)))
        return nullcontext(rank)

    monkeypatch.setattr("rlk_export.command.model_file", lambda model, best: Path(model))
    monkeypatch.setattr("rlk_export.command.load_to_act", load)
    changed = ["--set", "env.gravity=9", "--plugin", "./mine.py", "--plugin", "no:table"]
    result = CliRunner().invoke(
        export, ["model.zip", "--out", str(tmp_path / "x.pt2"), "--env", WALK, *changed]
    )
    assert (result.exit_code, result.output) == (0, "")
    how = {"env": WALK, "plugins": ("./mine.py", "no:table"), "device": "cpu", "env.gravity": 9}
    assert loaded == [(Path("model.zip"), how)]
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("arguments", "code", "says"),
    [
        (["{run}/nowhere", "--out", "{out}/x.pt2"], 1, "does not exist"),
        (["{run}", "--out", "{out}/x.pth"], 1, "'FILE.onnx' or 'FILE.pt2'"),
        (["{run}", "--env", WALK], 2, "--out"),
        (["{run}", "--best", "--out", "{out}/x.pt2", "--env", WALK], 1, "--plugin evaluation"),
        (["{run}", "--out", "{out}/x.pt2", "--env", WALK, "--env", "A-v0"], 2, "one environment"),
    ],
)
def test_what_is_refused_says_why(
    folder: Path,
    tmp_path: Path,
    arguments: list[str],
    code: int,
    says: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    typed = [one.format(run=folder, out=tmp_path) for one in arguments]
    found, text = refused(capsys, "export", *typed)
    assert says in text
    assert found == code
    assert "Traceback" not in text
    assert not list(tmp_path.iterdir())
