"""The cells of docs/notebooks.md run, and run again, as the page says."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

PAGE = Path(__file__).resolve().parents[2] / "docs" / "notebooks.md"
CELLS = re.findall(r"```i?python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
#: In a process of its own, because the first cell closes all agents.
AGAIN = """
import rlk
cells, names = {cells!r}, {{"__name__": "__main__"}}
for cell in cells:
    exec(cell, names)
print(*(f"{{agent.num_timesteps}} {{agent.run.closed}}" for agent in {agents}), sep=", ")
"""


@pytest.mark.parametrize(
    ("cells", "agents", "told"),
    [
        ([0, 0], "rlk.open_agents()", "2048 False"),
        ([0, 1], "[names['agent']]", "2048 True"),
        ([0, 2], "[names['agent']]", "4096 True"),
        ([0, 3, 3], "rlk.open_agents()", "2048 False"),
    ],
)
def test_the_cells_of_the_page_run_in_one_notebook(cells, agents, told, tmp_path, rlk_forks):
    program = tmp_path / "notebook.py"
    program.write_text(AGAIN.format(cells=[CELLS[cell] for cell in cells], agents=agents))
    with rlk_forks.start(program, cwd=tmp_path) as running:
        printed, _ = running.communicate(timeout=120)
    assert running.returncode == 0, printed
    assert printed.splitlines()[-1] == told


def test_all_cells_of_the_page_are_tested():
    assert len(CELLS) == 4


def test_the_first_cell_shows_the_semicolon_that_the_page_explains():
    assert CELLS[0].rstrip().endswith(";")
