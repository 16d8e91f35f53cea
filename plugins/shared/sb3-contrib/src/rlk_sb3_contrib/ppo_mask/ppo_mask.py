"""`MaskablePPO`: PPO with invalid action masking (Huang and Ontañón 2020, arXiv 2006.14171)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Literal, Self

import numpy as np
import torch
from torch import Tensor

from rlk import spaces
from rlk.agent import Agent
from rlk.errors import PlanError
from rlk.records import Array
from rlk_action_masking.masks import (
    KEY,
    TITLE,
    as_booleans,
    observation_with_mask,
    options,
    without_mask,
)
from rlk_baselines.argument_types import Folder, Keywords, Schedulable
from rlk_baselines.arguments import constructor
from rlk_baselines.common.base_class import Callback
from rlk_baselines.refusals import Refused
from rlk_sb3.action_distribution import ActionDistribution
from rlk_sb3.algorithm import LAST, Device
from rlk_sb3.common.on_policy_algorithm import ROLLOUT_BUFFER
from rlk_sb3.images import channels_first
from rlk_sb3.policy_view import ActorCriticView
from rlk_sb3.ppo.ppo import OF_PPO, PPO
from rlk_sb3_contrib.ppo_mask.policies import MaskableActorCriticPolicy


@MaskableActorCriticPolicy.register
class MaskableView(ActorCriticView):
    """The policy of MaskablePPO, whose methods take masks.

    Masks are bool [M] or [B, M], and None allows all actions, unless the observations are dicts
    that have them already (`action_mask`).
    """

    def forward(
        self, obs: Any, *asked: Any, deterministic: bool = False, action_masks: Any = None
    ) -> Any:
        """As in `ActorCriticView`."""
        seen = obs if action_masks is None else self._masked(obs, action_masks)
        return super().forward(seen, *asked, deterministic=deterministic)

    def evaluate_actions(
        self, obs: Any, actions: Any, action_masks: Any = None
    ) -> tuple[Tensor, Tensor, Tensor | None]:
        """As in `ActorCriticView`."""
        return super().evaluate_actions(self._masked(obs, action_masks), actions)

    def get_distribution(self, obs: Any, action_masks: Any = None) -> ActionDistribution:
        """As in `ActorCriticView`."""
        return super().get_distribution(self._masked(obs, action_masks))

    def _space_of(self, observation: Any) -> Any:
        """As in `PolicyView`: with the mask, if the observations have one."""
        has_mask = isinstance(observation, Mapping) and KEY in observation
        return super()._space_of(observation) if has_mask else self._model.observation_space

    def _tensors(self, obs: Any) -> Any:
        """As in `PolicyView`, with masks."""
        return self._masked(obs, None)

    def _masked(self, obs: Any, action_masks: Any) -> Any:
        """Observations with their masks, as tensors [B, ...] on the policy's device."""
        seen = super()._tensors(obs)
        if action_masks is None and isinstance(seen, Mapping) and KEY in seen:
            return seen
        if isinstance(action_masks, Tensor):
            action_masks = action_masks.cpu()
        masks = self._model.masks_of(spaces.batch_size(seen), action_masks)
        as_tensor: Any = torch.from_numpy(masks).to(self.device)
        return observation_with_mask(seen, as_tensor)

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
            return self._model.predict(observation, *call, action_masks)
        seen, was_batched = self._model.with_masks(observation, action_masks)
        action, after = self._acting.predict(seen, *call)
        return (action if was_batched else action[0]), after


class MaskablePPO(PPO):
    """PPO whose policy gives forbidden actions the probability 0, by rlk's `action-masking`.

    Environments must have a method `action_masks()`, or be in an `ActionMasker`. Shapes:
    B observations, M options; see `rlk_action_masking.masks`.
    """

    viewed = MaskableView
    has_own_files = True
    policy_aliases: ClassVar[dict[str, Any]] = {
        **PPO.policy_aliases,
        "MlpPolicy": MaskableActorCriticPolicy,
    }

    @constructor(*OF_PPO, *ROLLOUT_BUFFER, *LAST)
    def __init__(
        self,
        policy: str | type[Any],
        env: Any,
        learning_rate: Schedulable = 0.0003,
        n_steps: int = 2048,
        batch_size: int = 64,
        n_epochs: int = 10,
        gamma: float = 0.99,
        gae_lambda: float = 0.95,
        clip_range: Schedulable = 0.2,
        clip_range_vf: Schedulable | None = None,
        normalize_advantage: bool = True,
        ent_coef: float = 0.0,
        vf_coef: float = 0.5,
        max_grad_norm: float | None = 0.5,
        rollout_buffer_class: None = None,
        rollout_buffer_kwargs: None = None,
        target_kl: float | None = None,
        stats_window_size: int = 100,
        tensorboard_log: Folder | None = None,
        policy_kwargs: Keywords | None = None,
        verbose: int = 0,
        seed: int | None = None,
        device: Device = "auto",
        _init_setup_model: bool = True,
    ) -> None: ...

    def _plugins(self) -> list[Any]:
        return [*super()._plugins(), "action-masking"]

    def _new_agent(self) -> Agent:
        try:
            return super()._new_agent()
        except PlanError as error:
            if TITLE not in str(error):
                raise
            raise PlanError(
                f"{error} MaskablePPO always has these plugins, which put the masks of "
                "action_masks() into observations: without masks use PPO."
            ) from error

    @property
    def observation_space(self) -> Any:
        """The observation space of one environment, without masks."""
        found = super().observation_space
        return without_mask(found) or found

    def learn(  # type: ignore[override]
        self,
        total_timesteps: float,
        callback: Callback = None,
        log_interval: int | Literal["auto"] | None = "auto",
        tb_log_name: str | None = None,
        reset_num_timesteps: bool = True,
        use_masking: bool = True,
        progress_bar: bool = False,
    ) -> Self:
        """As `BaseAlgorithm.learn`; as in sb3-contrib, the default of `tb_log_name` is PPO.

        Raises:
            Refused: for `use_masking=False`.
        """
        if not use_masking:
            raise Refused("MaskablePPO learns with masks here. Without them write PPO of rlk_sb3.")
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
        masks = self.masks_of(spaces.batch_size(batch), action_masks)
        return observation_with_mask(batch, masks), was_batched

    def masks_of(self, size: int, action_masks: Any) -> Array:
        """The masks for a batch of `size` observations, int8 [B, M]; `action_masks` as above.

        Raises:
            Refused: for masks of another shape, or with other values than zeros and ones.
        """
        shape = size, sum(options(self.action_space))
        if action_masks is None:
            return np.ones(shape, np.int8)
        try:
            given = as_booleans(action_masks, "the argument action_masks is")
        except ValueError as error:
            raise Refused(str(error)) from error
        if given.size != size * shape[1]:
            raise Refused(
                f"action_masks must have the shape {list(shape)} here, got {list(given.shape)}."
            )
        return given.reshape(shape).astype(np.int8)
