"""What rlk expects of every extension, checked on `demonstrations` as it is installed."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pytest

from rlk_expert_data import generate_expert_traj
from rlk_testing import ExtensionContract
from rlk_testing.environments import DiscreteMatch

if TYPE_CHECKING:
    from rlk.agent import Agent

SMALL: dict[str, Any] = {"buffer_size": 100, "learning_starts": 80, "batch_size": 8}


class TestDemonstrations(ExtensionContract):
    component = "demonstrations"
    algo = "dqn"
    timesteps = 40

    @pytest.fixture(scope="class", autouse=True)
    @classmethod
    def _an_expert(cls, tmp_path_factory: pytest.TempPathFactory) -> None:
        path = tmp_path_factory.mktemp("expert") / "expert.npz"
        env = DiscreteMatch()
        generate_expert_traj(lambda _: int(env.action_space.start), path, env, n_episodes=4)
        cls.settings = {"expert_path": str(path)}

    @contextlib.contextmanager
    def agent(self, **settings: Any) -> Iterator[Agent]:
        with super().agent(**{**SMALL, **settings}) as agent:
            yield agent
