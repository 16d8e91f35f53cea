"""The table: what is printed where, and that nothing is lost."""

from __future__ import annotations

import io
from types import SimpleNamespace
from typing import Any

import pytest
import rich
from rich.console import Console

from rlk_loggers.config import TableConfig
from rlk_loggers.number_format import compact, readable
from rlk_loggers.table import TableLogger, line, table
from rlk_testing.tools.screen import Screen

ROW = {
    "rollout/ep_rew_mean": 212.34,
    "time/fps": 12345.6,
    "time/iterations": 12,
    "time/total_timesteps": 12288,
    "train/loss": 0.0123,
}


class Opened:
    """The logger in a run."""

    def __init__(self, seconds: float, verbose: int = 1, rank: int = 0) -> None:
        self.run: Any = SimpleNamespace(
            plan=SimpleNamespace(verbose=verbose),
            communicator=SimpleNamespace(rank=rank),
            clock=SimpleNamespace(total_timesteps=100_000),
            on_close=[],
        )
        self.logger = TableLogger(TableConfig(min_seconds=seconds))
        self.logger.rlk_training_start(self.run)

    def write(self, timesteps: int, row: dict[str, float]) -> None:
        self.run.timesteps = timesteps
        self.logger.rlk_write_row(self.run, row)

    def close(self) -> None:
        for close in self.run.on_close:
            close()


def logger(monkeypatch: pytest.MonkeyPatch, seconds: float, **settings: Any) -> tuple[Opened, Any]:
    console = Console(file=Screen(), width=100, color_system=None)
    monkeypatch.setattr(rich, "get_console", lambda: console)
    return Opened(seconds, **settings), console.file


def test_a_run_that_trains_often_has_one_function_of_it_to_call_at_the_end() -> None:
    opened = Opened(0.0)
    for _ in range(3):
        opened.logger.rlk_training_start(opened.run)
    assert len(opened.run.on_close) == 1


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (12345, "12,345"),
        (0, "0"),
        (0.0, "0"),
        (500.0, "500.0"),
        (-21.25, "-21.25"),
        (1234.5, "1,234"),
        (1000.0, "1,000"),
        (100.0, "100.0"),
        (10.0, "10.00"),
        (1.0, "1.000"),
        (0.001, "0.001000"),
        (0.00125, "0.001250"),
        (0.99996, "1.000"),
        (1e7, "1.00e+07"),
        (9_999_999.0, "9,999,999"),
        (1.5, "1.500"),
        (0.25, "0.2500"),
        (0.00025, "2.50e-04"),
        (3e9, "3.00e+09"),
        (float("nan"), "nan"),
    ],
)
def test_numbers_have_about_four_digits(number: float, text: str) -> None:
    assert readable(number) == text


def test_numbers_for_programs_have_no_commas() -> None:
    assert [compact(value) for value in (12345, 12345.678, 0.1)] == ["12345", "12345.7", "0.1"]


def test_a_line_names_figures_by_the_last_part_of_their_tags() -> None:
    assert (
        line(2048, ROW) == "timesteps=2048 ep_rew_mean=212.34 fps=12345.6 iterations=12 loss=0.0123"
    )


def test_a_line_tells_figures_of_one_name_apart() -> None:
    assert line(8, {"a/loss": 1.0, "b/loss": 2.0}) == "timesteps=8 a/loss=1 b/loss=2"


@pytest.mark.parametrize("forced", [{}, {"FORCE_COLOR": "1"}])
def test_a_pipe_gets_a_line_for_every_row(
    forced: dict[str, str], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in forced.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(rich, "get_console", Console)
    made = Opened(1e9)
    for timesteps in (8, 16):
        made.write(timesteps, ROW)
    made.close()
    lines = capsys.readouterr().out.splitlines()
    assert [text.split()[0] for text in lines] == ["timesteps=8", "timesteps=16"]


def test_who_reads_a_pipe_gets_a_line_as_soon_as_there_is_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    pipe = io.BytesIO()
    monkeypatch.setattr("sys.stdout", io.TextIOWrapper(pipe))  # with a buffer, as of a pipe
    Opened(1e9).write(8, ROW)
    assert pipe.getvalue().startswith(b"timesteps=8 ")


@pytest.mark.parametrize("settings", [{"verbose": 0}, {"rank": 1}])
def test_quiet_runs_and_other_ranks_print_nothing(
    settings: dict[str, int], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    made, file = logger(monkeypatch, 0.0, **settings)
    made.write(8, ROW)
    made.close()
    assert file.getvalue() + capsys.readouterr().out == ""


def test_a_terminal_gets_a_table_now_and_then_and_nothing_is_lost(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    made, file = logger(monkeypatch, 1e9)
    made.write(8, ROW)
    made.write(16, {**ROW, "eval/mean_reward": 321.0})
    made.write(24, {**ROW, "rollout/ep_rew_mean": 99.5})
    assert file.getvalue().count("timesteps ─") == 1
    made.close()
    text = file.getvalue()
    assert text.count("timesteps ─") == 2
    last = text[text.index("24 of 100,000 timesteps") :]
    assert "321.0" in last
    assert "99.50" in last
    assert "212.3" not in last


def test_a_notebook_gets_tables_too(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    console = Console(force_jupyter=True, force_terminal=False, width=100)
    monkeypatch.setattr(rich, "get_console", lambda: console)
    displayed: list[str] = []
    monkeypatch.setattr("rich.jupyter.display", lambda segments, text: displayed.append(text))
    made = Opened(1e9)
    for timesteps in (8, 16):
        made.write(timesteps, ROW)
    made.close()
    assert [text.split(" of ")[0].split()[-1] for text in displayed] == ["8", "16"]
    assert capsys.readouterr().out == ""


def test_the_row_at_the_last_timestep_is_printed_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    made, file = logger(monkeypatch, 1e9)
    for timesteps in (8, 100_000):
        made.write(timesteps, ROW)
    assert "100,000 of 100,000 timesteps" in file.getvalue()


def test_after_the_last_table_there_is_none_at_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    made, file = logger(monkeypatch, 0.0)
    made.write(8, ROW)
    before = file.getvalue()
    made.close()
    assert file.getvalue() == before


@pytest.mark.parametrize("width", [120, 80, 40, 20])
def test_a_table_fits_and_groups_stand_together(width: int) -> None:
    console = Console(file=io.StringIO(), width=width, color_system=None)
    console.print(table(12288, 100_000, ROW, console))
    text = console.file.getvalue()  # type: ignore[attr-defined]
    assert max(map(len, text.splitlines())) <= width
    if width >= 40:
        for word in ("rollout", "train", "time", "ep_rew_mean", "212.3", "12,346"):
            assert word in text
        assert "total_timesteps" not in text


@pytest.mark.parametrize("width", [40, 60, 80, 120, 200])
def test_a_table_fits_a_terminal_of_any_width_and_loses_nothing(width: int) -> None:
    row = {f"train/{name}": 1.5 for name in ("policy_gradient_loss", "loss", "value_loss")}
    row |= {f"time/{name}": 12_345_678 for name in ("fps", "iterations", "time_elapsed")}
    console = Console(file=Screen(), width=width, color_system=None)
    console.print(table(1_000, 20_000, row, console))
    lines = console.file.getvalue().splitlines()  # type: ignore[attr-defined]
    assert max(map(len, lines)) <= width
    assert all(any(f"{tag.partition('/')[2]} " in text for text in lines) for tag in row)
    heights = {40: 10, 60: 6, 80: 6, 120: 6, 200: 6}
    assert len(lines) == heights[width]


def test_a_collection_that_goes_beyond_the_total_is_not_put_beside_it() -> None:
    console = Console(file=io.StringIO(), width=80)
    console.print(table(8_192, 8_000, {"time/fps": 1}, console))
    printed = console.file.getvalue()  # type: ignore[attr-defined]
    assert "8,192 timesteps" in printed and "8,000" not in printed


def shown(row: dict[str, float], width: int) -> str:
    console = Console(file=Screen(), width=width, color_system=None)
    console.print(table(8, 100, row, console))
    return str(console.file.getvalue())  # type: ignore[attr-defined]


def test_groups_stand_in_one_order_and_those_of_others_last() -> None:
    groups = ("rollout", "eval", "train", "time", "mine")
    text = shown({f"{group}/x": 1.0 for group in reversed(groups)}, 30)
    assert [word for word in text.split() if word in groups] == [*groups]


def test_brackets_in_a_name_are_shown_as_they_are() -> None:
    text = shown({"train/loss[actor]": 1.0, "train/w[/2]": 2.0, "mine[bold]/x": 3.0}, 80)
    assert "loss[actor]" in text and "train/w[ " in text and "mine[bold]" in text


@pytest.mark.parametrize("width", [40, 80])
def test_a_name_that_is_too_long_is_cut_and_its_number_is_not(width: int) -> None:
    text = shown({"train/" + "very_long_" * 12: 1.23e-9, "n/count": 12_345, "ü/日本語": 1.5}, width)
    assert "very_long_" in text and "…" in text
    for number in ("1.23e-09", "12,345", "1.500"):
        assert number in text


def test_the_end_of_training_prints_what_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    made, file = logger(monkeypatch, 1e9)
    made.write(8, ROW)
    made.write(16, ROW)
    made.logger.rlk_training_end()
    assert "16 of 100,000 timesteps" in file.getvalue()


def test_a_group_is_put_below_the_lowest_of_all_columns() -> None:
    groups = {"aaaaaaaaaa": 4, "bbbbbbbbbb": 1, "cccccccccc": 1, "dddddddddd": 1, "eeeeeeeeee": 1}
    row = {f"{group}/{i}": 1.5 for group, figures in groups.items() for i in range(figures)}
    # Two columns: a (5 lines) and e (2); b, c and d (2 each). The frame has two more lines.
    assert len(shown(row, 30).splitlines()) == 9


def test_numbers_of_a_group_end_at_the_same_place() -> None:
    text = shown({"mine/x": 1.0, "mine/y": 12_345}, 40)
    assert "x  1.000" in text and "y 12,345" in text


@pytest.mark.parametrize(("width", "lines"), [(27, 4), (26, 6)])
def test_two_groups_stand_beside_each_other_where_they_just_fit(width: int, lines: int) -> None:
    # Ten characters each, three between them, and four of the frame.
    assert len(shown({"aaaaaaaaaa/x": 1.5, "bbbbbbbbbb/x": 1.5}, width).splitlines()) == lines
