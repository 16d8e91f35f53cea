"""What rlk expects of every extension, checked on the two as they are installed."""

from __future__ import annotations

from pathlib import Path

import pytest

from rlk_testing import ExtensionContract


class Imitation(ExtensionContract):
    algo = "a2c"

    @pytest.fixture(scope="class", autouse=True)
    @classmethod
    def _expert(cls, rlk_expert: Path) -> None:
        cls.settings = {"expert_path": str(rlk_expert), "g_step": 1}


class TestGAILReward(Imitation):
    component = "gail-reward"


class TestAIRLReward(Imitation):
    component = "airl-reward"
