"""What rlk expects of every extension, checked on `replay-start` as it is installed."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pytest

import rlk
from rlk_testing import ExtensionContract

if TYPE_CHECKING:
    from rlk.agent import Agent

SMALL: dict[str, Any] = {"buffer_size": 100, "learning_starts": 80, "batch_size": 8}


class TestReplayStart(ExtensionContract):
    component = "replay-start"
    algo = "dqn"
    timesteps = 40

    @pytest.fixture(scope="class", autouse=True)
    @classmethod
    def _replay_of_another_run(cls, tmp_path_factory: pytest.TempPathFactory) -> None:
        with rlk.make("dqn", env=cls.env, seed=2, **SMALL) as agent:
            agent.learn(50)
            path = agent.save_replay_buffer(tmp_path_factory.mktemp("first") / "replay")
        cls.settings = {"run": str(path)}

    @contextlib.contextmanager
    def agent(self, **settings: Any) -> Iterator[Agent]:
        with super().agent(**{**SMALL, **settings}) as agent:
            yield agent

    def test_the_replay_is_there(self) -> None:
        with self.agent() as agent:
            assert len(agent.learn(4).run.storage) == 54
