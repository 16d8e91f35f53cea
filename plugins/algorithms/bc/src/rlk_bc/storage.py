"""`expert-transitions`: an expert's transitions in shuffled batches. B transitions in a batch."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import Any

import numpy as np
import torch

from rlk.errors import RlkError
from rlk.protocols import State
from rlk.records import Array, Batch, Schema, Step, Update
from rlk_bc.config import ExpertConfig
from rlk_expert_data import Trajectories, read
from rlk_expert_data.fitting import actions_in, observations_in


class ExpertTransitions:
    """Reads the file when transitions are first needed, so models are loaded without it.

    The validation transitions are the same in every run, so that their losses can be compared.
    """

    def __init__(self, config: ExpertConfig) -> None:
        self.config = config

    def open(self, schema: Schema) -> None:
        self._schema = schema

    @cached_property
    def trajectories(self) -> Trajectories:
        """The expert's observations and actions.

        Raises:
            BadFile: if the file is not on this machine, or damaged.
        """
        if self.config.expert_path is None:
            raise RlkError("storage 'expert-transitions' needs expert_path=FILE.")
        return read(self.config.expert_path, self.config.traj_limitation)

    @cached_property
    def _parts(self) -> tuple[Array, Array]:
        """The training transitions and the validation transitions."""
        size = len(self.trajectories)
        order = np.random.default_rng(0).permutation(size)
        cut = max(1, int(self.config.train_fraction * size))
        return order[:cut], order[cut:]

    def observations(self) -> Iterator[Array]:
        """Those of the training transitions, in parts [M, ...]."""
        found, index = self.trajectories, self._parts[0]
        space = self._schema.observation_space
        yield observations_in(space, found.observation[index], found.whose)

    def __len__(self) -> int:
        """The number of training transitions."""
        return len(self._parts[0])

    def epoch(self) -> Iterator[Batch]:
        """Every training transition once, in a new order."""
        return self._batches(self._schema.rng.permutation(self._parts[0]))

    def validation(self) -> Iterator[Batch]:
        """Every validation transition once."""
        return self._batches(self._parts[1])

    def _batches(self, order: Array) -> Iterator[Batch]:
        for start in range(0, len(order), self.config.batch_size):
            yield self._batch(order[start : start + self.config.batch_size])

    def _batch(self, index: Array) -> Batch:
        schema, found = self._schema, self.trajectories
        whose = found.whose
        seen = observations_in(schema.observation_space, found.observation[index], whose)
        taken = actions_in(schema.action_space, found.action[index], whose)
        unknown = torch.zeros(len(index), device=schema.device)
        observation = torch.from_numpy(seen).to(schema.device)
        return Batch(
            observation=observation,
            action=torch.from_numpy(taken).to(schema.device),
            reward=unknown,
            next_observation=observation,
            discount=unknown,
            weight=torch.ones_like(unknown),
            index=index,
        )

    def add(self, step: Step) -> None:
        """Nothing can be added.

        Raises:
            RlkError: always.
        """
        raise RlkError(
            "storage 'expert-transitions' takes no steps of an environment. Use --collector "
            "no-steps with it."
        )

    def restart(self) -> None:
        """Nothing is ever incomplete."""

    def feedback(self, batch: Batch, update: Update) -> None:
        """Nothing to learn from an update."""

    def state_dict(self) -> State:
        return {}

    def load_state_dict(self, state: State) -> None:
        """Nothing: the file has the transitions, and the order is drawn from the run's stream."""


def mean_loss(loss_of: Any, batches: Iterator[Batch]) -> float:
    """The mean of a loss over all transitions of some batches; NaN if there are none."""
    losses = [(float(loss_of(batch)), len(batch.action)) for batch in batches]
    total = sum(size for _, size in losses)
    return sum(loss * size for loss, size in losses) / total if total else float("nan")
