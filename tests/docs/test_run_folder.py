"""docs/run-folder.md names every file, column and key of a run's folder."""

from __future__ import annotations

import csv
import json
import re
from pathlib import Path

import pytest

import rlk
from rlk.settings import unstructure
from rlk_testing.tools.command_line import ended

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "run-folder.md").read_text(encoding="utf-8")
RUN = "run --algo dqn --env CartPole-v1 --timesteps 400 --seed 1 --quiet --out runs/mine"
RESUME = "resume runs/mine --timesteps 600 --set gamma=0.9 --quiet"
#: Keys of `env`: "both spaces".
SPACES = ("observation_space", "action_space")
PLUGINS = ["--plugin", "evaluation:every=200,episodes=1", "--plugin", "tensorboard"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    """The folder of a run that was resumed with another setting."""
    home = tmp_path_factory.mktemp("here")
    with pytest.MonkeyPatch.context() as patched:
        patched.chdir(home)
        small = ["--set", "learning_starts=50", "--set", "n_threads=1"]
        for words in ([*RUN.split(), *PLUGINS, *small], RESUME.split()):
            assert ended(*words) == 0
    return home / "runs" / "mine"


def section(title: str) -> str:
    """The part of the page under a heading."""
    return PAGE.partition(f"\n## {title}\n")[2].partition("\n## ")[0]


def named(text: str) -> set[str]:
    """What stands in the first columns of the tables of a text, in backticks."""
    first = re.findall(r"^\| (`[^|]+) \|", text, re.M)
    return {name for cell in first for name in re.findall(r"`([^`]+)`", cell)}


def test_every_file_is_on_the_page_and_those_on_it_exist(folder: Path) -> None:
    found = {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}
    there = {re.sub(r"\d+(?=\.zip|\.json)", "<timesteps>", name) for name in found}
    there = {re.sub(r"tfevents\..*", "tfevents.…", name) for name in there}
    assert there | {".owner"} == named(PAGE.partition("\n## ")[0])


def test_every_column_of_metrics_is_on_the_page(folder: Path) -> None:
    with (folder / "progress.csv").open() as file:
        columns = set(next(csv.reader(file)))
    known = {name.rstrip("…") for name in named(section("progress.csv"))}
    assert {"time/fps", "rollout/exploration_rate", "eval/mean_reward"} <= columns <= known


def test_every_key_of_a_plan_is_on_the_page(folder: Path) -> None:
    plan, text = json.loads((folder / "plan.json").read_text()), section("plan.json")
    assert set(plan) == named(text)
    keys = {*plan["env"], *plan["run"], *plan["components"][0]} - {*SPACES}
    assert not [key for key in keys if f"`{key}`" not in text]


def test_the_example_reads_it(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (example,) = re.findall(r"```python\n(.*?)```", PAGE, re.S)
    monkeypatch.chdir(folder.parents[1])
    found: dict[str, object] = {"__name__": "example"}
    exec(example, found)
    with rlk.load(folder) as agent:
        assert unstructure(agent.plan.algorithm.config)["learning_rate"] == found["rate"]
    assert isinstance(found["rows"], list) and len(found["rows"]) > 1
    assert len(found["returns"]) > 5
