"""What docs/environments.md says of its example, its commands and the backends."""

from __future__ import annotations

import re
import shlex
import shutil
from pathlib import Path

import numpy as np
import pytest
from example_code import module_of

import rlk
from rlk.registry.kernel import default_kernel
from rlk_env_check.checker import examine
from rlk_evaluation.evaluate import evaluate_agent
from rlk_scaffold import tree
from rlk_scaffold.manifest import read_manifest
from rlk_testing.tools.command_line import ended

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "environments.md").read_text(encoding="utf-8")
EXAMPLE = ROOT / "examples" / "own_environment" / "maze.py"
COMMANDS = [line.strip() for line in re.findall(r"^\$ rlk (run [^#\n]+)", PAGE, re.M)]


@pytest.fixture
def maze():
    return module_of(EXAMPLE).Maze


def test_the_example_has_no_fault_and_its_state_can_be_saved(maze):
    found = examine(maze(render_mode="rgb_array"), render=True, make=maze)
    assert {one.level for one in found} <= {"note"}
    assert not [one for one in found if "resumed" in one.text]


def test_the_example_ends_by_its_goal_or_by_its_time_limit(maze):
    env = maze(size=3)
    env.reset(seed=0)
    env.place = np.array([2, 1])
    _, reward, terminated, truncated, info = env.step(1)
    assert (reward, terminated, truncated, info) == (1.0, True, False, {"is_success": True})
    env.reset(seed=0)
    env.place = np.array([0, 0])
    steps = [env.step(0) for _ in range(12)]  # against the wall
    assert [truncated for *_, truncated, _ in steps] == [False] * 11 + [True]
    assert steps[0][1:3] == (-0.1, False) and env.action_masks().tolist() == [0, 1, 1, 0]


@pytest.mark.parametrize("plugins", [[], ["action-masking"]])
def test_the_example_is_learnt(maze, plugins):
    with rlk.make("ppo2", env=maze, n_envs=4, seed=0, plugins=plugins) as agent:
        agent.learn(15_000)
        found = evaluate_agent(agent, 20, seed=7)
    assert found.success_rate == 1.0 and found.mean_return > 0.9


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_of_the_page_runs(command, tmp_path, monkeypatch):
    shutil.copy(EXAMPLE, tmp_path)
    monkeypatch.chdir(tmp_path)
    words = shlex.split(command)
    shorter = [] if "--explain" in words else ["--timesteps", "64", "--set", "n_steps=16"]
    assert ended(*words, *shorter, "--preset", "none") == 0


def test_the_page_lists_every_backend():
    table = PAGE.partition("| `--vec-env` |")[2].partition("\n\n")[0]
    listed = set(re.findall(r"\[`([\w-]+)`\]", table))
    ours = {read_manifest(one / "pyproject.toml").name for one in tree.distributions(ROOT)}
    entries = default_kernel().registries.every_entry()
    assert listed == {one.name for one in entries if one.kind == "vec_envs" and one.dist in ours}
