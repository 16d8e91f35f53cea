"""`MaskablePPO`: PPO with invalid action masking (Huang and Ontañón 2020, arXiv 2006.14171)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Literal, TypeVar

import numpy as np

from rlk import spaces
from rlk_action_masking.masks import observation_with_mask, options, without_mask
from rlk_baselines.common.base_class import Callback
from rlk_baselines.refusals import Refused
from rlk_baselines.sb3.images import channels_first
from rlk_baselines.sb3.policy_view import ActorCriticView
from rlk_baselines.sb3.ppo.ppo import PPO

Model = TypeVar("Model", bound="MaskablePPO")
#: Parameters of PPO that this class does not have.
_NOT_HERE = ("use_sde", "sde_sample_freq")


class MaskableView(ActorCriticView):
    """The policy of MaskablePPO, whose `predict` takes masks."""

    def predict(
        self,
        observation: Any,
        state: Any = None,
        episode_start: Any = None,
        deterministic: bool = False,
        action_masks: Any = None,
    ) -> tuple[Any, Any]:
        """As `MaskablePPO.predict`."""
        call = (state, episode_start, deterministic)
        if self._acting is None:
            found: tuple[Any, Any] = self._model.predict(observation, *call, action_masks)
            return found
        seen, was_batched = self._model.with_masks(observation, action_masks)
        action, after = self._predict_by_copy(seen, *call)
        return (action if was_batched else action[0]), after


class MaskablePPO(PPO):
    """PPO whose policy gives forbidden actions the probability 0, by rlk's `action-masking`.

    Environments must have a method `action_masks()`, or be in an `ActionMasker`. Shapes:
    B observations, M options; see `rlk_action_masking.masks`.
    """

    viewed = MaskableView
    names = tuple(name for name in PPO.names if name not in _NOT_HERE)
    usual: ClassVar[Mapping[str, Any]] = {name: PPO.usual[name] for name in names}

    def _plugins(self) -> list[Any]:
        return [*super()._plugins(), "action-masking"]

    @property
    def observation_space(self) -> Any:
        """The observation space of one environment, without masks."""
        found = super().observation_space
        return without_mask(found) or found

    def learn(  # type: ignore[override]
        self: Model,
        total_timesteps: int,
        callback: Callback = None,
        log_interval: int | Literal["auto"] | None = "auto",
        tb_log_name: str | None = None,
        reset_num_timesteps: bool = True,
        use_masking: bool = True,
        progress_bar: bool = False,
    ) -> Model:
        """As `BaseAlgorithm.learn`.

        Raises:
            Refused: for `use_masking=False`.
        """
        if not use_masking:
            raise Refused(
                "MaskablePPO learns with masks here. Without them write PPO of rlk_baselines.sb3."
            )
        call = (total_timesteps, callback, log_interval, tb_log_name, reset_num_timesteps)
        return super().learn(*call, progress_bar)

    def predict(
        self,
        observation: Any,
        state: Any = None,
        episode_start: Any = None,
        deterministic: bool | None = False,
        action_masks: Any = None,
    ) -> tuple[Any, Any]:
        """As `BaseAlgorithm.predict`.

        Args:
            observation, state, episode_start, deterministic: as in `BaseAlgorithm.predict`.
            action_masks: bool [M] or [B, M], True for allowed actions; None allows all.

        Raises:
            ValueError: if observations or masks do not fit.
        """
        seen, was_batched = self.with_masks(observation, action_masks)
        found = self._act(seen, state, episode_start, bool(deterministic))
        return found if was_batched else (found[0][0], found[1])

    def with_masks(self, observation: Any, action_masks: Any) -> tuple[Any, bool]:
        """A batch of what the policy sees, and whether `observation` was a batch.

        Args:
            observation: one of the environment's observations, or a batch of them.
            action_masks: as in `predict`.
        """
        seen = channels_first(observation, self.observation_space)
        batch, was_batched = spaces.batched(self.observation_space, seen)
        size = spaces.batch_size(batch)
        masks = np.ones((size, sum(options(self.action_space))), np.int8)
        if action_masks is not None:
            given = np.asarray(action_masks, np.int8)
            if given.size != masks.size:
                raise Refused(
                    f"action_masks must have the shape {list(masks.shape)} here, got "
                    f"{list(given.shape)}."
                )
            masks = given.reshape(masks.shape)
        return observation_with_mask(batch, masks), was_batched
