"""What a class says of a file that a class of another package has written."""

from __future__ import annotations

import itertools
import re
from pathlib import Path
from typing import Any

import pytest

import rlk_baselines
import rlk_sb3
import rlk_sb3_contrib

CLASSES = {
    "rlk_baselines.PPO2": rlk_baselines.PPO2,
    "rlk_sb3.PPO": rlk_sb3.PPO,
    "rlk_sb3_contrib.RecurrentPPO": rlk_sb3_contrib.RecurrentPPO,
}


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A file of each class."""
    folder, paths = tmp_path_factory.mktemp("models"), {}
    for name, cls in CLASSES.items():
        policy = "MlpLstmPolicy" if name.endswith("RecurrentPPO") else "MlpPolicy"
        model: Any = cls(policy, "CartPole-v1")
        paths[name] = folder / f"{name}.zip"
        model.save(paths[name])
    return paths


def test_a_masked_model_is_not_loaded_from_a_file_without_masks(files: dict[str, Path]) -> None:
    with pytest.raises(ValueError, match=r"a model of rlk_sb3\.PPO, not of .*\.Maskable"):
        rlk_sb3_contrib.MaskablePPO.load(files["rlk_sb3.PPO"])


@pytest.mark.parametrize(("loads", "wrote"), [*itertools.permutations(CLASSES, 2)])
def test_a_file_of_another_package_is_refused_with_the_import_that_loads_it(
    files: dict[str, Path], loads: str, wrote: str
) -> None:
    package, _, name = wrote.partition(".")
    told = f"holds a model of {wrote}, not of {loads}. Write from {package} import {name}, and"
    with pytest.raises(ValueError, match=f"{re.escape(told)} {name}.load"):
        CLASSES[loads].load(files[wrote])


class Own(rlk_sb3.PPO):
    """A class of a program."""


def test_a_class_of_a_program_is_imported_from_its_module(
    files: dict[str, Path], tmp_path: Path
) -> None:
    Own("MlpPolicy", "CartPole-v1").save(tmp_path / "own")
    told = rf"model of {__name__}\.Own, .* Write from {__name__} import Own, and Own.load"
    with pytest.raises(ValueError, match=told):
        rlk_sb3.PPO.load(tmp_path / "own")
    assert isinstance(Own.load(files["rlk_sb3.PPO"]), Own)
