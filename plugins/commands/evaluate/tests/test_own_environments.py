"""The environments that `evaluate_agent` makes: closed again, and not those of training."""

from __future__ import annotations

from typing import Any

import rlk
from rlk_evaluate.evaluate import evaluate_agent
from rlk_testing import stand_in_kernel
from rlk_testing.environments import Walk

KERNEL = stand_in_kernel(discover=True)


def made(env: Any, **settings: Any) -> Any:
    return rlk.make("stand-in", env=env, kernel=KERNEL, seed=3, n_threads=1, **settings)


def test_they_are_closed_at_the_end() -> None:
    closed: list[Any] = []

    class NotesItsEnd(Walk):
        def close(self) -> None:
            closed.append(self)
            super().close()

    with made(NotesItsEnd) as agent:
        closed.clear()  # one was made to read its spaces
        evaluate_agent(agent, 2, n_envs=2)
        assert len(closed) == 2


def test_what_they_give_does_not_count_in_the_statistics_of_training() -> None:
    with made(Walk, plugins=["normalize"]) as agent:
        agent.learn(20)
        normalizer = agent.run.hooks.get("normalize")

        def counts() -> dict[str, int]:
            return {name: part["count"] for name, part in normalizer.state_dict().items()}

        before = counts()
        evaluate_agent(agent, 3)
        assert counts() == before and before.keys() == {"observation", "returns"}
