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
from rlk.records import Array, Batch, Step
from rlk.spaces import map_observation
from rlk_baselines.common.vec_env import VecEnv, VecNormalize, unwrap_vec_normalize
from rlk_baselines.transitions import StepOfProgram

if TYPE_CHECKING:
    from rlk.planning.choice import Choice


def originals_of(env: VecEnv | None) -> VecNormalize | None:
    """The `VecNormalize` of an environment that a replay has to keep the originals of, or None."""
    found = unwrap_vec_normalize(env)
    if env is None or found is None or found.observation_space != env.observation_space:
        return None
    return found


class NormalizedReplay:
    """Lets a run keep what a `VecNormalize` was given, and draw it normalised.

    Args:
        normalize: the wrapper.
    """

    def __init__(self, normalize: VecNormalize) -> None:
        self.normalize = normalize

    @hookimpl
    def rlk_make_storage(self, choice: Choice) -> Any:
        """The base storage, with originals put in and what is normalised taken out."""
        return None if choice.component.stages else KeepsOriginals(choice.make(), self.normalize)


class KeepsOriginals:
    """A storage that is given observations and rewards as the environments gave them.

    What is sampled is what the policy takes: normalised. All else is the storage's own.

    Args:
        storage: it keeps and draws the originals.
        normalize: the wrapper.

    Attributes:
        originals: the storage.
    """

    def __init__(self, storage: Any, normalize: VecNormalize) -> None:
        self.originals, self._normalize = storage, normalize

    def add(self, step: Step) -> None:
        """Keep a step, with what `VecNormalize` was given in the place of what it gave.

        One of the program's own is as an environment would have given it.
        """
        if isinstance(step, StepOfProgram):
            self.originals.add(step)
            return
        before, now, ends = self._normalize.originals()
        final = {i: ends.get(i, last) for i, last in step.final_observation.items()}
        self.originals.add(
            step._replace(
                observation=before,
                next_observation=now,
                reward=self._normalize.get_original_reward().astype(step.reward.dtype),
                final_observation=final,
            )
        )

    def sample(self, batch_size: int) -> Batch:
        """A batch of the storage, normalised by the statistics of now."""
        batch: Batch = self.originals.sample(batch_size)
        normalize, device = self._normalize, batch.reward.device

        def by(function: Callable[[Any], Any], values: Any) -> Any:
            found = function(map_observation(_array, values))
            return map_observation(lambda part: torch.from_numpy(part).to(device), found)

        return dataclasses.replace(
            batch,
            observation=by(normalize.normalize_obs, batch.observation),
            next_observation=by(normalize.normalize_obs, batch.next_observation),
            reward=by(normalize.normalize_reward, batch.reward).float(),
        )

    def __len__(self) -> int:
        return len(self.originals)

    def __getattr__(self, name: str) -> Any:
        if name == "originals":
            raise AttributeError(name)
        return getattr(self.originals, name)


def _array(tensor: Any) -> Array:
    found: Array = tensor.cpu().numpy()
    return found
