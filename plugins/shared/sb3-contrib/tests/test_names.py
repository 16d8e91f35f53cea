"""Names that programs import from the modules in which sb3-contrib has them."""

from __future__ import annotations

import importlib
import subprocess
import sys

import pytest

from rlk_sb3_contrib import elsewhere


def test_what_is_not_there_says_what_to_write() -> None:
    for module, names in elsewhere.INSTEAD.items():
        path = ".".join(filter(None, ("rlk_sb3_contrib", module)))
        found = importlib.import_module(path)
        for name, instead in names.items():
            with pytest.raises(ImportError) as caught:
                getattr(found, name)
            assert str(caught.value) == f"{path} has no {name}. Write {instead}."
    with pytest.raises(ImportError, match=r"Write model\.policy\.get_distribution\("):
        from rlk_sb3_contrib.common.maskable.distributions import (  # noqa: F401
            MaskableCategorical,
        )


def test_an_algorithm_that_is_not_there_says_so_by_its_module() -> None:
    with pytest.raises(ImportError, match=r"sb3_contrib has no TQC\. Write SAC or TD3"):
        importlib.import_module("rlk_sb3_contrib.tqc.policies")


def test_submodules_need_no_import_of_their_own() -> None:
    names = (
        "common.maskable.utils.get_action_masks",
        "common.wrappers",
        "common.recurrent.policies",
        "ppo_mask.MlpPolicy",
    )
    program = "import rlk_sb3_contrib as package\n" + "\n".join(f"package.{name}" for name in names)
    subprocess.run([sys.executable, "-c", program], check=True)


def test_what_is_no_submodule_is_no_attribute() -> None:
    for package in (
        "rlk_sb3_contrib",
        "rlk_sb3_contrib.common.maskable",
        "rlk_sb3_contrib.common.maskable.distributions",
    ):
        found = importlib.import_module(package)
        with pytest.raises(AttributeError, match=f"{package}' has no attribute 'nothing'"):
            _ = found.nothing
