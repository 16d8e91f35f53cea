"""A search that a launcher has started several times is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from rlk.errors import PlanError
from rlk_testing.command_line import ended
from rlk_tune.one_process import refuse_several


@pytest.mark.parametrize(
    "environment", [{}, {"PMI_SIZE": "1"}, {"WORLD_SIZE": "1"}, {"WORLD_SIZE": "all"}]
)
def test_one_process_searches(environment: dict[str, str]) -> None:
    refuse_several(environment)


@pytest.mark.parametrize(
    ("name", "launcher"),
    [
        ("PMI_SIZE", "mpirun"),
        ("OMPI_COMM_WORLD_SIZE", "mpirun"),
        ("MV2_COMM_WORLD_SIZE", "mpirun"),
        ("WORLD_SIZE", "torchrun"),
    ],
)
def test_one_of_several_processes_is_refused(name: str, launcher: str) -> None:
    with pytest.raises(PlanError, match=rf"started 4 times, by {launcher}.*--jobs 4"):
        refuse_several({name: "4"})


def test_the_command_is_refused_before_it_writes_anything(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PMI_SIZE", "2")
    words = ["--algo", "a2c", "--env", "CartPole-v1", "--timesteps", "64", "--trials=1"]
    assert ended("tune", *words) == 2
    assert "rlk tune was started 2 times" in capsys.readouterr().err
    assert [*tmp_path.iterdir()] == []
