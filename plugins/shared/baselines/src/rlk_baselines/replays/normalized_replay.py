"""Off-policy models in a `VecNormalize`: the replay stores unnormalised transitions.

As in Stable Baselines 2.10, batches are normalised by the statistics at the time of sampling,
because those at the time of storing are out of date.
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
from rlk_baselines.replays.transitions import StepOfProgram

if TYPE_CHECKING:
    from rlk.planning.choice import Choice


def originals_of(env: VecEnv | None) -> VecNormalize | None:
    """The `VecNormalize` around an environment for which a replay must store originals, or None.

    None, too, if wrappers around it change the observation space: there are no originals of that.
    """
    found = unwrap_vec_normalize(env)
    if env is None or found is None or found.observation_space != env.observation_space:
        return None
    return found


class NormalizedReplay:
    """A plugin that makes a run store unnormalised transitions, and normalise batches.

    Args:
        normalize: the wrapper.
    """

    def __init__(self, normalize: VecNormalize) -> None:
        self.normalize = normalize

    @hookimpl
    def rlk_make_storage(self, choice: Choice) -> Any:
        """Wrap the base storage in `KeepsOriginals`; decorating storages are left alone."""
        return None if choice.component.stages else KeepsOriginals(choice.make(), self.normalize)


class KeepsOriginals:
    """A storage that stores unnormalised observations and rewards, and samples normalised batches.

    All other methods are those of the inner storage.

    Args:
        storage: the inner storage, which holds and samples the originals.
        normalize: the wrapper.

    Attributes:
        originals: the inner storage.
    """

    def __init__(self, storage: Any, normalize: VecNormalize) -> None:
        self.originals, self._normalize = storage, normalize

    def add(self, step: Step) -> None:
        """Add a step, with the observations and rewards before `VecNormalize` normalised them.

        A step that the program adds itself is unnormalised already.
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
        """A batch of B transitions, normalised by the current statistics."""
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
    return tensor.cpu().numpy()
