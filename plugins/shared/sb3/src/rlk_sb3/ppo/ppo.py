"""`PPO`: proximal policy optimisation (Schulman et al. 2017, arXiv 1707.06347)."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Any

from rlk.program_warnings import warn_program
from rlk_baselines.argument_types import Folder, Keywords, Schedulable
from rlk_baselines.arguments import Argument, Rate, Scheduled, at_once, constructor, is_finite
from rlk_sb3.algorithm import LAST, SDE, Device
from rlk_sb3.callable_numbers import callable_number
from rlk_sb3.common.on_policy_algorithm import ROLLOUT_BUFFER, OnPolicyAlgorithm

#: What is special about arguments of PPO that other models do not have.
OF_PPO = (
    Argument("learning_rate", change=Rate(("policy",))),
    *at_once("n_epochs", "gamma", "gae_lambda", "normalize_advantage"),
    *at_once("ent_coef", "vf_coef", "target_kl"),
    Argument("clip_range", change=Scheduled("clip_range")),
    Argument("clip_range_vf", change=Scheduled("clip_range_vf")),
)


class PPO(OnPolicyAlgorithm):
    """Proximal policy optimisation (Schulman et al. 2017, arXiv 1707.06347).

    Its parameters are those of the plugin `ppo`; the README of rlk-ppo describes them.
    """

    algo = "ppo"

    @constructor(*OF_PPO, *SDE, *ROLLOUT_BUFFER, *LAST)
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
        use_sde: bool = False,
        sde_sample_freq: int = -1,
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

    @property
    def clip_range(self) -> Any:
        """The clip range as a function of the remaining fraction of the training, 1 to 0."""
        return callable_number(self._given["clip_range"])

    @property
    def clip_range_vf(self) -> Any:
        """Likewise that of the value function, or None."""
        return callable_number(self._given["clip_range_vf"])

    def _with_effect(self, names: Collection[str] | None = None) -> dict[str, Any]:
        """As in `Constructed`; a minibatch has at most the transitions of a collection."""
        found = super()._with_effect(names)
        size = self._collection_size(found)
        if self.n_envs and size is not None and found["batch_size"] > size > 1:
            warn_program(
                f"batch_size={found['batch_size']} is more than the {size} transitions of a "
                f"collection (n_steps={found['n_steps']}, {self.n_envs} environments), which are "
                "one minibatch then."
            )
            found["batch_size"] = size
        return found

    def _changes(self, names: Iterable[str]) -> dict[str, Any]:
        """As in `Constructed`; what `n_steps` and the environments leave of `batch_size`, too."""
        changed = {*names}
        size = self._collection_size(self._given)
        if "n_steps" in changed or (size is not None and self._given["batch_size"] > size):
            changed.add("batch_size")
        return super()._changes(changed)

    def _collection_size(self, given: Mapping[str, Any]) -> int | None:
        """Transitions of a collection; None for sizes that the config refuses."""
        sizes = given["n_steps"], given["batch_size"]
        return int(sizes[0]) * (self.n_envs or 1) if all(map(is_finite, sizes)) else None

    def numbers_of_training(self) -> dict[str, float]:
        """As in `BaseAlgorithm`, and `train/n_updates` in epochs, as in Stable-Baselines3.

        The minibatches of epochs that `target_kl` ended early are counted as parts of epochs.
        """
        run: Any = self.agent.run
        epochs = -(-run.clock.updates_taken // run.algorithm.n_minibatches)
        return {**super().numbers_of_training(), "train/n_updates": epochs}
