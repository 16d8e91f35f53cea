"""What rlk expects of every extension, checked on the two as they are installed."""

from __future__ import annotations

import numpy as np
import pytest

from rlk_testing import ExtensionContract


class Imitation(ExtensionContract):
    algo = "a2c"

    @pytest.fixture(scope="class", autouse=True)
    @classmethod
    def _expert(cls, tmp_path_factory: pytest.TempPathFactory) -> None:
        path = tmp_path_factory.mktemp("expert") / "expert.npz"
        data = {
            "obs": np.eye(3, dtype=np.float32),
            "actions": np.array([[1], [2], [3]]),
            "episode_starts": np.array([True, False, False]),
            "episode_returns": np.array([3.0]),
        }
        np.savez(path, **data)  # type: ignore[arg-type]
        cls.settings = {"expert_path": str(path), "g_step": 1}


class TestGAILReward(Imitation):
    component = "gail-reward"


class TestAIRLReward(Imitation):
    component = "airl-reward"
