"""What rlk expects of every extension, checked on `model-start` as it is installed."""

from __future__ import annotations

import pytest

import rlk
from rlk_testing import ExtensionContract


class TestModelStart(ExtensionContract):
    component = "model-start"
    algo = "a2c"
    timesteps = 40

    @pytest.fixture(scope="class", autouse=True)
    @classmethod
    def _a_saved_model(cls, tmp_path_factory: pytest.TempPathFactory) -> None:
        with rlk.make("a2c", env=cls.env, seed=2) as agent:
            path = agent.learn(20).save(tmp_path_factory.mktemp("first") / "model")
        cls.settings = {"path": str(path)}
