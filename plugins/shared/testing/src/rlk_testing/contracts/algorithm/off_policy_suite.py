"""What the checks of an off-policy algorithm share: its agents, and the first batch of one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, ClassVar

from rlk.abilities import state_of
from rlk.saving.named_parameters import named_parameters
from rlk_testing.contracts.algorithm.suite import AlgorithmSuite

if TYPE_CHECKING:
    from rlk.agent import Agent

#: One update after every timestep, as soon as eight transitions are stored.
SOON: dict[str, Any] = {
    "n_envs": 1,  # whatever the algorithm's default is
    "learning_starts": 0,
    "batch_size": 8,
    "train_freq": 1,
    "gradient_steps": 1,
}


class OffPolicySuite(AlgorithmSuite):
    """Makes agents that update soon; `OffPolicyContract` describes the class attributes."""

    warms_up: ClassVar[bool] = True
    target: ClassVar[str | None] = "target"
    target_stays: ClassVar[Mapping[str, Any]] = {"tau": 0.0}
    critic: ClassVar[str] = "critic"
    transitions: ClassVar[bool] = True
    bounds_returns: ClassVar[bool] = False
    own_names: ClassVar[Mapping[str, str]] = {}

    @contextmanager
    def agent(self, **settings: Any) -> Iterator[Agent]:
        """An agent, closed afterwards; `own_names` translates the names of settings."""
        own = {self.own_names.get(key, key): value for key, value in settings.items()}
        with super().agent(**own) as agent:
            yield agent

    def target_parameters(self, agent: Agent) -> Any:
        """A copy of the target networks' parameters, float [P]."""
        import torch

        assert self.target is not None
        kept = named_parameters({}, {"target": state_of(agent.run.algorithm)[self.target]})
        assert kept, (
            f"state_dict() holds no tensors under {self.target!r}: set `target`, or target = None "
            "if it has no target networks"
        )
        return torch.cat([value.reshape(-1) for value in kept.values()]).clone()

    @contextmanager
    def agent_and_batch(self) -> Iterator[tuple[Agent, Any]]:
        """An agent that has not updated yet, and the first batch that it would learn from."""
        with self.agent(**{**SOON, "learning_starts": 16}) as agent:
            agent.learn(15)
            agent.run.clock.timesteps = 16
            yield agent, next(iter(agent.run.algorithm.batches(agent.run.storage)))
