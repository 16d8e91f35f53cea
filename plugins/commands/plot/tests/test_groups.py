"""Which runs belong together, and what they are called."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import attrs
import pytest

from rlk_plot.curves import read_run
from rlk_plot.groups import groups_of

Make = Callable[..., Path]
RISING = [(float(i), 10, i / 10) for i in range(1, 60)]


def test_runs_that_differ_only_in_their_seed_belong_together(
    tmp_path: Path, run_folder: Make
) -> None:
    curves = [
        read_run(run_folder(tmp_path / "a", RISING, seed=1)),
        read_run(run_folder(tmp_path / "b", RISING, seed=2, watcher=99)),
        read_run(run_folder(tmp_path / "c", RISING, seed=1, rate=0.5)),
        read_run(run_folder(tmp_path / "d", RISING, algo="ppo2")),
    ]
    groups = groups_of(curves)
    assert [label for label, _ in groups] == [
        "dqn learning_rate=0.1",
        "dqn learning_rate=0.5",
        "ppo2",
    ]
    assert [len(members) for _, members in groups] == [2, 1, 1]


@pytest.mark.parametrize(
    ("changed", "labels"),
    [
        ({"timesteps": 2560}, ["dqn total_timesteps=256", "dqn total_timesteps=2560"]),
        ({"timesteps": 256, "gravity": 3.0}, ["dqn", "dqn env.gravity=3.0"]),
    ],
)
def test_runs_of_other_timesteps_or_in_an_environment_with_other_settings_are_drawn_apart(
    tmp_path: Path, run_folder: Make, changed: dict[str, Any], labels: list[str]
) -> None:
    folders = [
        run_folder(tmp_path / "a", RISING, timesteps=256),
        run_folder(tmp_path / "b", RISING, **changed),
    ]
    groups = groups_of([read_run(folder) for folder in folders])
    assert [label for label, _ in groups] == labels


def test_runs_that_differ_in_much_are_called_by_their_folders(
    tmp_path: Path, run_folder: Make
) -> None:
    curves = [
        attrs.evolve(
            read_run(run_folder(tmp_path / name, RISING)),
            settings={f"setting{i}": name for i in range(4)},
        )
        for name in "ab"
    ]
    assert [label for label, _ in groups_of(curves)] == ["dqn (a)", "dqn (b)"]


def test_runs_with_another_component_are_called_by_it(tmp_path: Path, run_folder: Make) -> None:
    plain = read_run(run_folder(tmp_path / "a", RISING))
    lstm = attrs.evolve(
        plain,
        folder=tmp_path / "b",
        components=dict(plain.components) | {"policy": "lstm"},
        settings={"learning_rate": 0.1, "n_envs": 1, "lstm.n_lstm": 64, "lstm.layers": [64]},
    )
    masked = attrs.evolve(
        plain, folder=tmp_path / "c", components=dict(plain.components) | {"extension": "masks"}
    )
    assert [label for label, _ in groups_of([plain, lstm, masked])] == [
        "dqn policy=mlp",
        "dqn policy=lstm",
        "dqn extension=masks policy=mlp",
    ]


def called_by_folders(run_folder: Make, *folders: Path) -> list[str]:
    """The labels of runs that differ in much."""
    curves = [
        attrs.evolve(
            read_run(run_folder(folder, RISING)),
            settings={f"setting{i}": number for i in range(4)},
        )
        for number, folder in enumerate(folders)
    ]
    return [label for label, _ in groups_of(curves)]


def test_folders_of_one_name_are_told_apart_by_their_parents(
    tmp_path: Path, run_folder: Make
) -> None:
    folders = [tmp_path / name for name in ("x/a/run", "y/a/run", "y/b/run", "c")]
    labels = ["dqn (x/a/run)", "dqn (y/a/run)", "dqn (b/run)", "dqn (c)"]
    assert called_by_folders(run_folder, *folders) == labels


def test_long_names_lose_their_middle_unless_they_differ_in_it(
    tmp_path: Path, run_folder: Make
) -> None:
    long = "n" * 80
    at_their_ends = [tmp_path / f"{begin}{long}{end}" for begin, end in ("ax", "ay", "bx")]
    assert called_by_folders(run_folder, *at_their_ends) == [
        f"dqn ({begin}{'n' * 23}…{'n' * 28}{end})" for begin, end in ("ax", "ay", "bx")
    ]
    in_their_middle = [tmp_path / f"{long}{middle}{long}" for middle in "ab"]
    assert called_by_folders(run_folder, *in_their_middle) == [
        f"dqn ({long}{middle}{long})" for middle in "ab"
    ]


def test_groups_that_differ_only_in_settings_of_a_component_that_others_lack_have_two_labels(
    tmp_path: Path, run_folder: Make
) -> None:
    mlp = read_run(run_folder(tmp_path / "a", RISING))
    wide = attrs.evolve(mlp, folder=tmp_path / "b", settings={**mlp.settings, "mlp.layers": [9]})
    lstm = attrs.evolve(
        mlp, folder=tmp_path / "c", components=dict(mlp.components) | {"policy": "lstm"}
    )
    labels = [label for label, _ in groups_of([mlp, wide, lstm])]
    assert labels == ["dqn (a)", "dqn (b)", "dqn policy=lstm"]
