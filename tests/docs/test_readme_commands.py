"""The README's two commands, which `.ci/run` takes from it and runs."""

from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
COMMANDS = [
    "$ pip install -r requirements.txt && rlk run --algo dqn --plugin prioritized-replay",
    "$ pip install -r requirements-dev.txt && pytest",
]


def test_the_first_block_of_the_readme_is_the_two_commands():
    block = (ROOT / "README.md").read_text(encoding="utf-8").split("```")[1]
    assert block.splitlines()[1:] == COMMANDS


def test_ci_finds_them_nowhere_else():
    lines = (ROOT / "README.md").read_text(encoding="utf-8").splitlines()
    assert [line for line in lines if "pip install -r requirements" in line][:2] == COMMANDS
    assert sum(line.startswith("$ pip install -r requirements") for line in lines) == 2
