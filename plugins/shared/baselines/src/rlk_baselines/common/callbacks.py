"""Callbacks: called while a model learns, with the interface of Stable Baselines 2.10."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from rlk.errors import PlanError
from rlk.files import replacing
from rlk.terminal import print_on
from rlk_baselines.common.callback_interface import (
    BaseCallback,
    EventCallback,
    refuse_other,
    stops,
)
from rlk_baselines.common.evaluation import evaluate_policy
from rlk_baselines.common.vec_env import VecEnv, sync_envs_normalization, warn_of_other_wrappers
from rlk_baselines.environments.as_vec_env import AwaitedVecEnv, as_vec_env
from rlk_baselines.refusals import refuse_below_one, refused
from rlk_expert_data.arguments import checked_count

if TYPE_CHECKING:
    from rlk_baselines.common.base_class import BaseRLModel

__all__ = [
    "BaseCallback",
    "CallbackList",
    "CheckpointCallback",
    "ConvertCallback",
    "EvalCallback",
    "EventCallback",
    "EveryNTimesteps",
    "StopTrainingOnRewardThreshold",
    "as_callback",
]


class CallbackList(BaseCallback):
    """Calls several callbacks in order; the training stops if any of them returns False.

    Args:
        callbacks: the callbacks.

    Raises:
        PlanError: if this is not a list of callbacks.
    """

    def __init__(self, callbacks: list[BaseCallback]) -> None:
        super().__init__()
        if not isinstance(callbacks, list):
            raise PlanError(f"CallbackList takes a list, got {type(callbacks).__name__}.")
        for callback in callbacks:
            refuse_other(callback, "CallbackList")
        self.callbacks = callbacks

    def _init_callback(self) -> None:
        for callback in self.callbacks:
            if self.parent is not None:  # the list stands for its callbacks
                callback.parent = self.parent
            callback.init_callback(self.model)

    def _on_training_start(self) -> None:
        for callback in self.callbacks:
            callback.on_training_start(self.locals, self.globals)

    def _on_rollout_start(self) -> None:
        for callback in self.callbacks:
            callback.on_rollout_start()

    def _on_step(self) -> bool:
        results = [callback.on_step() for callback in self.callbacks]  # all are called
        return not any(stops(result) for result in results)

    def _on_rollout_end(self) -> None:
        for callback in self.callbacks:
            callback.on_rollout_end()

    def _on_training_end(self) -> None:
        for callback in self.callbacks:
            callback.on_training_end()

    def _called_callbacks(self) -> Sequence[BaseCallback]:
        return self.callbacks


class CheckpointCallback(BaseCallback):
    """Saves the model at regular intervals, as `PREFIX_TIMESTEPS_steps.zip`; rank 0 does so.

    Args:
        save_freq: calls between two files.
        save_path: the folder, which is made if it does not exist.
        name_prefix: PREFIX.
        verbose: 2 prints the path of every file.
    """

    def __init__(
        self, save_freq: int, save_path: str, name_prefix: str = "rl_model", verbose: int = 0
    ) -> None:
        super().__init__(verbose)
        refuse_below_one(save_freq, "CheckpointCallback: save_freq")
        self.save_freq, self.save_path, self.name_prefix = save_freq, save_path, name_prefix

    def _init_callback(self) -> None:
        os.makedirs(self.save_path, exist_ok=True)

    def _on_step(self) -> bool:
        if self.n_calls % self.save_freq == 0 and on_rank_0(self.model):
            name = f"{self.name_prefix}_{self.num_timesteps}_steps"
            path = os.path.join(self.save_path, f"{name}.zip")
            self.model.save(path)
            if self.verbose > 1:
                print_on(sys.stdout, f"Saving model checkpoint to {path}")
        return True


class ConvertCallback(BaseCallback):
    """Calls a function with local and global variables; it stops the training by returning False.

    Args:
        callback: the function; None does nothing.
        verbose: unused.
    """

    def __init__(self, callback: Callable[[Any, Any], Any] | None, verbose: int = 0) -> None:
        super().__init__(verbose)
        self.callback = callback

    def _on_step(self) -> bool:
        return self.callback is None or not stops(self.callback(self.locals, self.globals))


class EvalCallback(EventCallback):
    """Evaluates the model at regular intervals, and saves the best one.

    If several ranks train the model under mpirun, rank 0 evaluates it, and the others wait.

    Args:
        eval_env: an environment, or a vector of one.
        callback_on_new_best: called when there is a new best model.
        n_eval_episodes: episodes per evaluation.
        eval_freq: calls between two evaluations; 0 or less never evaluates.
        log_path: a folder for `evaluations.npz`, which holds all K evaluations: `timesteps` [K],
            `results` (returns) and `ep_lengths` [K, n_eval_episodes]. None writes none.
        best_model_save_path: a folder for `best_model.zip`; None writes none.
        deterministic: whether the model takes the mode of its policy.
        render: whether to render every step of the evaluation.
        verbose: 0 prints nothing.

    Raises:
        PlanError: if there are several environments, or no episodes.
        AssertionError: during training, if its environment has a `VecNormalize` and `eval_env` has
            none.
    """

    takes_vectors: ClassVar[bool] = False  #: whether `eval_env` may have several environments

    def __init__(
        self,
        eval_env: Any,
        callback_on_new_best: BaseCallback | None = None,
        n_eval_episodes: int = 5,
        eval_freq: int = 10000,
        log_path: str | None = None,
        best_model_save_path: str | None = None,
        deterministic: bool = True,
        render: bool = False,
        verbose: int = 1,
    ) -> None:
        super().__init__(callback_on_new_best, verbose=verbose)
        with refused():
            n_eval_episodes = checked_count("EvalCallback: n_eval_episodes", n_eval_episodes)
        self.n_eval_episodes, self.eval_freq = n_eval_episodes, eval_freq
        self.deterministic, self.render = deterministic, render
        self.best_mean_reward = self.last_mean_reward = -np.inf
        self.eval_env: VecEnv = as_vec_env(eval_env)
        if self.eval_env.num_envs != 1 and not self.takes_vectors:
            raise PlanError(f"EvalCallback takes one environment, got {self.eval_env.num_envs}.")
        self.best_model_save_path = best_model_save_path
        self.log_path = None if log_path is None else os.path.join(log_path, "evaluations")
        self.evaluations_results: list[list[float]] = []
        self.evaluations_timesteps: list[int] = []
        self.evaluations_length: list[list[int]] = []

    def _init_callback(self) -> None:
        for folder in (self.best_model_save_path, os.path.dirname(self.log_path or "")):
            if folder:
                os.makedirs(folder, exist_ok=True)
        training = as_vec_env(self.training_env)
        if not isinstance(training, AwaitedVecEnv):
            warn_of_other_wrappers(training, self.eval_env)

    def _on_step(self) -> bool:
        is_due = self.eval_freq > 0 and self.n_calls % self.eval_freq == 0
        if not is_due or not on_rank_0(self.model):
            return True
        sync_envs_normalization(as_vec_env(self.training_env), self.eval_env)
        rewards, lengths = self._evaluated()
        if self.log_path is not None:
            self._log(rewards, lengths)
        self.last_mean_reward = float(np.mean(rewards))
        if self.verbose > 0:
            print(
                f"Eval num_timesteps={self.num_timesteps}, "
                f"episode_reward={self.last_mean_reward:.2f} +/- {np.std(rewards):.2f}\n"
                f"Episode length: {np.mean(lengths):.2f} +/- {np.std(lengths):.2f}"
            )
        self._record(lengths)
        return self._is_best() if self.last_mean_reward > self.best_mean_reward else True

    def _evaluated(self) -> Any:
        """Evaluate: the returns and the lengths of the episodes."""
        return evaluate_policy(
            self.model,
            self.eval_env,
            n_eval_episodes=self.n_eval_episodes,
            render=self.render,
            deterministic=self.deterministic,
            return_episode_rewards=True,
        )

    def _record(self, lengths: Any) -> None:
        """Log the results of an evaluation; to be overridden."""

    def _more(self) -> dict[str, Any]:
        """Further arrays for `evaluations.npz`; to be overridden."""
        return {}

    def _log(self, rewards: Any, lengths: Any) -> None:
        assert self.log_path is not None
        self.evaluations_timesteps.append(self.num_timesteps)
        self.evaluations_results.append(rewards)
        self.evaluations_length.append(lengths)
        arrays = {
            "timesteps": self.evaluations_timesteps,
            "results": self.evaluations_results,
            "ep_lengths": self.evaluations_length,
            **self._more(),
        }
        with replacing(Path(f"{self.log_path}.npz")) as file:
            np.savez(file, **arrays)

    def _is_best(self) -> bool:
        """Save the model and call `callback_on_new_best`, which may stop the training."""
        if self.verbose > 0:
            print("New best mean reward!")
        if self.best_model_save_path is not None:
            self.model.save(os.path.join(self.best_model_save_path, "best_model"))
        self.best_mean_reward = self.last_mean_reward
        return self._on_new_best()

    def _on_new_best(self) -> bool:
        """Call `callback_on_new_best`; to be overridden."""
        return self._on_event()


class StopTrainingOnRewardThreshold(BaseCallback):
    """Stops the training when the best mean return of an `EvalCallback` reaches a threshold.

    Pass it as the `callback_on_new_best` of the `EvalCallback`, or to an `EventCallback` of your
    own that has the attribute `best_mean_reward`.

    Args:
        reward_threshold: the mean return.
        verbose: 0 prints nothing.

    Raises:
        PlanError: when it is called without such a parent.
    """

    def __init__(self, reward_threshold: float, verbose: int = 0) -> None:
        super().__init__(verbose=verbose)
        self.reward_threshold = reward_threshold

    def _on_step(self) -> bool:
        best = getattr(self.parent, "best_mean_reward", None)
        if best is None:
            raise PlanError(
                "StopTrainingOnRewardThreshold is called by an EvalCallback: pass it as "
                "EvalCallback(env, callback_on_new_best=…)."
            )
        goes_on = bool(best < self.reward_threshold)
        if self.verbose > 0 and not goes_on:
            print(
                f"Stopping training because the mean reward {best:.2f} "
                f"is above the threshold {self.reward_threshold}"
            )
        return goes_on


class EveryNTimesteps(EventCallback):
    """Calls another callback every `n_steps` timesteps.

    Deviation: if a later call of `learn` counts timesteps from 0 again, so does this callback; in
    Stable Baselines 2.10 it then waits until they exceed the earlier ones.

    Args:
        n_steps: the least number of timesteps between two calls.
        callback: the callback to call.
    """

    def __init__(self, n_steps: int, callback: BaseCallback) -> None:
        super().__init__(callback)
        refuse_below_one(n_steps, "EveryNTimesteps: n_steps")
        self.n_steps = n_steps
        self.last_time_trigger = 0

    def _on_step(self) -> bool:
        if self.num_timesteps < self.last_time_trigger:
            self.last_time_trigger = 0
        if self.num_timesteps - self.last_time_trigger >= self.n_steps:
            self.last_time_trigger = self.num_timesteps
            return self._on_event()
        return True


def on_rank_0(model: BaseRLModel) -> bool:
    """Whether this is the rank, of those that train a model, which evaluates, prints and writes."""
    return model.agent.run.communicator.rank == 0


def as_callback(callback: Any) -> BaseCallback | None:
    """The argument `callback` of `learn` as one callback, or None.

    Raises:
        PlanError: if it is not a callback, a list of them, or a function.
    """
    if callback is None or isinstance(callback, BaseCallback):
        return callback
    if isinstance(callback, (list, tuple)):
        made = [as_callback(one) for one in callback]
        return CallbackList([one for one in made if one is not None])
    if isinstance(callback, type):
        refuse_other(callback, "learn")
    if not callable(callback):
        raise PlanError(
            f"callback must be a BaseCallback, a list of them, or a function of local and global "
            f"variables, got {type(callback).__name__}."
        )
    return ConvertCallback(callback)
