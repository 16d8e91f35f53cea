"""Every `rlk run` and SPEC.toml that a README or a page prints can be planned, as it is printed."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from rlk_expert_data import generate_expert_traj
from rlk_testing.tools.command_line import ended

ROOT = Path(__file__).resolve().parents[2]
MAZE = ROOT / "examples" / "own_environment" / "maze.py"
#: What a page asks its reader to have: files of their own, earlier runs, packages.
ABSENT = re.compile(
    r"does not exist|cannot read|cannot import|is not installed|needs (EnvPool|minari)"
)


def printed() -> list[tuple[str, str]]:
    pages = [ROOT / "README.md", *ROOT.glob("docs/*.md"), *ROOT.glob("plugins/*/*/README.md")]
    found = []
    for page in sorted(pages):
        text = page.read_text(encoding="utf-8").replace("\\\n", " ")
        for line in re.findall(r"^\$ (?:mpirun (?:-n \d+ )?)?rlk (run [^|&\n]+)", text, re.M):
            found.append((page.relative_to(ROOT).as_posix(), line.strip()))
    return found


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """What several pages use: an environment in a file, and an expert's data."""
    here = tmp_path_factory.mktemp("printed")
    (here / "maze.py").write_text(MAZE.read_text("utf-8"), "utf-8")
    generate_expert_traj(
        lambda _: 0, str(here / "expert_cartpole"), env="CartPole-v1", n_episodes=1
    )
    return here


def test_there_are_many_of_them():
    assert len(printed()) > 120


@pytest.mark.parametrize("page", sorted({page for page, _ in printed()}))
def test_a_printed_run_can_be_planned(page, folder, monkeypatch, capsys):
    monkeypatch.chdir(folder)
    for command in (line for where, line in printed() if where == page):
        code = ended(*shlex.split(command, comments=True), "--explain")
        told = capsys.readouterr().err
        misprinted = "Did you mean" in told or not (code == 0 or ABSENT.search(told))
        assert not misprinted, f"rlk {command}\n{told}"


def test_the_printed_spec_file_can_be_planned(tmp_path, capsys):
    page = (ROOT / "plugins/commands/cli/README.md").read_text("utf-8")
    (printed_file,) = re.findall(r"^```toml\n(.*?)^```", page, re.M | re.S)
    spec = tmp_path / "spec.toml"
    spec.write_text(printed_file, "utf-8")
    assert ended("run", spec, "--explain") == 0
    told = capsys.readouterr().out
    assert "prioritized-replay" in told and "20000" in told
