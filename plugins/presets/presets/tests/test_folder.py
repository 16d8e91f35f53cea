"""A folder of TOML files as a source of presets, as another package has one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import rlk
from rlk.errors import BrokenPlugin
from rlk.protocols import PresetSource
from rlk.registry.kernel import Kernel
from rlk_presets.folder import PresetFolder

SETTINGS = """
[CartPole-v1]
gamma = 0.5
"policy.layers" = [32]
tuned_by = "hand"

["Cart*"]
gamma = 0.7
plugins = ["no-such-plugin:key=1"]
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "dqn.toml").write_text(SETTINGS)
    (tmp_path / "notes.txt").write_text("of another kind")
    return tmp_path


def test_a_run_has_the_settings_of_a_folder(folder: Path) -> None:
    class Mine(PresetFolder):
        def __init__(self) -> None:
            super().__init__(folder, about=("tuned_by",))

    kernel = Kernel()
    kernel.registries.presets.register("mine", Mine)
    with rlk.make("dqn", env="CartPole-v1", preset="mine", kernel=kernel) as agent:
        config: Any = agent.plan.algorithm.config
        assert config.gamma == 0.5 and agent.plan.preset == "mine: dqn on CartPole-v1"
        policy: Any = agent.plan.policy.config
        assert policy.layers == [32]


def test_what_the_files_have_can_be_listed(folder: Path) -> None:
    source = PresetFolder(folder, about=("tuned_by",))
    assert source.algorithms() == ["dqn"]
    assert source.entries("dqn")["CartPole-v1"] == {"gamma": 0.5, "policy.layers": [32]}
    assert source.tables("dqn")["CartPole-v1"]["tuned_by"] == "hand"
    assert source.entries("notes") == source.entries("../dqn") == {}


def test_an_entry_that_needs_what_is_not_installed_is_left_out_with_a_reason(folder: Path) -> None:
    source: PresetSource = PresetFolder(folder)
    assert source.find("dqn", "CartPole-v0") is None
    why = PresetFolder(folder).why_not("dqn", "CartPole-v0")
    assert why is not None and "needs 'no-such-plugin', not installed here" in why
    found = PresetFolder(folder, installed=lambda name: True).find("dqn", "CartPole-v0")
    assert found is not None and found["gamma"] == 0.7


def test_a_noise_that_a_setting_names_must_be_installed(tmp_path: Path) -> None:
    (tmp_path / "td3.toml").write_text('[Mine-v0]\naction_noise = "normal-noise:sigma=0.1"\n')
    without = PresetFolder(tmp_path, installed=lambda name: name != "normal-noise")
    assert without.find("td3", "Mine-v0") is None
    why = without.why_not("td3", "Mine-v0")
    assert why is not None and "needs 'normal-noise', not installed here" in why
    assert PresetFolder(tmp_path, installed=lambda name: True).find("td3", "Mine-v0") is not None


def test_a_file_that_is_not_toml_is_named_with_its_plugin(folder: Path) -> None:
    (folder / "dqn.toml").write_text("[CartPole-v1\n")
    kernel = Kernel()
    kernel.registries.presets.register("mine", lambda: PresetFolder(folder))
    with pytest.raises(BrokenPlugin, match=r"mine.*dqn\.toml is not TOML"):
        rlk.make("dqn", env="CartPole-v1", preset="mine", kernel=kernel)
