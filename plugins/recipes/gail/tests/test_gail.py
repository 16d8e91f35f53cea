"""`gail` and `airl` by their names."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from rlk.planning.resolve import resolve
from rlk.planning.spec import make_spec
from rlk_gail.config import AIRLRecipeConfig, GAILRecipeConfig
from rlk_testing import RecipeContract

MATCH = "rlk_testing.environments:DiscreteMatch"


class Imitation(RecipeContract):
    run = {"env": MATCH}

    @pytest.fixture(scope="class", autouse=True)
    @classmethod
    def _expert(cls, rlk_expert: Path) -> None:
        cls.settings = {"expert_path": str(rlk_expert), "g_step": 2}


class TestGAIL(Imitation):
    component = "gail"


class TestAIRL(Imitation):
    component = "airl"

    def test_another_algorithm_may_learn(self) -> None:
        given: dict[str, Any] = {**self.settings, **self.run, "model": "ppo2"}
        assert resolve(self.kernel(), make_spec("airl", given)).algorithm.name == "ppo2"

    def test_its_reward_may_see_states_alone(self) -> None:
        for state_only in (True, False):
            given: dict[str, Any] = {**self.settings, **self.run, "state_only": state_only}
            plan = resolve(self.kernel(), make_spec("airl", given))
            (reward,) = (one for one in plan.extensions if one.name == "airl-reward")
            assert reward.config.state_only is state_only


del Imitation


def test_defaults_are_those_of_stable_baselines() -> None:
    found = GAILRecipeConfig()
    assert (found.g_step, found.d_step, found.d_stepsize) == (3, 1, 3e-4)
    assert (found.adversary_entcoeff, found.hidden_size_adversary) == (1e-3, 100)
    assert found.model == AIRLRecipeConfig().model == "trpo"
