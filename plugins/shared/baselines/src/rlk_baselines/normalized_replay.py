"""Off-policy models in a `VecNormalize`: the replay keeps what the environments gave.

What is sampled is normalised by the statistics of that moment, as in Stable Baselines 2.10, because
those of the moment when it was stored are out of date.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import torch

from rlk import hookimpl
from rlk.records import Array, Batch, Step, Update
from rlk.spaces import map_observation
from rlk_baselines.common.vec_env import VecNormalize
from rlk_baselines.transitions import StepOfProgram

if TYPE_CHECKING:
    from rlk.planning.choice import Choice
    from rlk.running.run import Run


class NormalizedReplay:
    """Lets a run keep what a `VecNormalize` was given, and learn from it normalised.

    Args:
        normalize: the wrapper.
    """

    def __init__(self, normalize: VecNormalize) -> None:
        self.normalize = normalize

    @hookimpl
    def rlk_make_storage(self, choice: Choice) -> Any:
        """The base storage, in front of which originals are put into every step."""
        return None if choice.component.stages else KeepsOriginals(choice.make(), self.normalize)

    @hookimpl
    def rlk_wrap_update(self, run: Run) -> Callable[..., Any]:
        """The algorithm's update of a normalised batch."""

        def wrapper(update: Callable[..., Update]) -> Callable[..., Update]:
            def normalised(batch: Batch, optimise: Any) -> Update:
                return update(self._normalised(batch), optimise)

            return normalised

        return wrapper

    def _normalised(self, batch: Batch) -> Batch:
        normalize, device = self.normalize, batch.reward.device

        def by(function: Callable[[Any], Any], values: Any) -> Any:
            found = function(map_observation(_array, values))
            return map_observation(lambda part: torch.from_numpy(part).to(device), found)

        return dataclasses.replace(
            batch,
            observation=by(normalize.normalize_obs, batch.observation),
            next_observation=by(normalize.normalize_obs, batch.next_observation),
            reward=by(normalize.normalize_reward, batch.reward).float(),
        )


def _array(tensor: Any) -> Array:
    found: Array = tensor.cpu().numpy()
    return found


class KeepsOriginals:
    """A storage that is given observations and rewards as the environments gave them.

    Everything but `add` is the storage's own.
    """

    def __init__(self, storage: Any, normalize: VecNormalize) -> None:
        self._storage, self._normalize = storage, normalize

    def add(self, step: Step) -> None:
        """Keep a step, with what `VecNormalize` was given in the place of what it gave.

        One of the program's own is as an environment would have given it.
        """
        if isinstance(step, StepOfProgram):
            self._storage.add(step)
            return
        before, now, ends = self._normalize.originals()
        final = {i: ends.get(i, last) for i, last in step.final_observation.items()}
        self._storage.add(
            step._replace(
                observation=before,
                next_observation=now,
                reward=self._normalize.get_original_reward().astype(step.reward.dtype),
                final_observation=final,
            )
        )

    def __len__(self) -> int:
        return len(self._storage)

    def __getattr__(self, name: str) -> Any:
        if name == "_storage":
            raise AttributeError(name)
        return getattr(self._storage, name)
