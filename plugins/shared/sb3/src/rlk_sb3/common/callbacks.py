"""The callbacks of Stable-Baselines3: those of Stable Baselines 2.10, and later ones."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from rlk.errors import PlanError
from rlk.terminal import print_on
from rlk_baselines.common.callback_interface import refuse_other, stops
from rlk_baselines.common.callbacks import (
    BaseCallback,
    CallbackList,
    ConvertCallback,
    EventCallback,
    EveryNTimesteps,
    StopTrainingOnRewardThreshold,
)
from rlk_baselines.common.callbacks import CheckpointCallback as _CheckpointCallback
from rlk_baselines.common.callbacks import EvalCallback as _EvalCallback
from rlk_sb3.common.evaluation import evaluate_policy
from rlk_sb3.elsewhere import not_here

__all__ = [
    "BaseCallback",
    "CallbackList",
    "CheckpointCallback",
    "ConvertCallback",
    "EvalCallback",
    "EventCallback",
    "EveryNTimesteps",
    "LogEveryNTimesteps",
    "ProgressBarCallback",
    "StopTrainingOnMaxEpisodes",
    "StopTrainingOnNoModelImprovement",
    "StopTrainingOnRewardThreshold",
]


def __getattr__(name: str) -> Any:
    if name == "tqdm":
        return _tqdm()
    raise not_here(__name__, name)


def _tqdm() -> Any:
    """The progress bar `tqdm.rich.tqdm`, which programs import from here; None without it."""
    try:
        from tqdm.rich import tqdm
    except ImportError:
        return None
    return tqdm


class CheckpointCallback(_CheckpointCallback):
    """Saves the model at regular intervals, and optionally its replay and normalisation.

    Args:
        save_freq: calls between two files.
        save_path: the folder, which is made if it does not exist.
        name_prefix: PREFIX. The model of timestep N is `PREFIX_N_steps.zip`.
        save_replay_buffer: whether to save the replay, as `PREFIX_replay_buffer_N_steps.pkl`.
        save_vecnormalize: whether to save the statistics of a `VecNormalize`, as
            `PREFIX_vecnormalize_N_steps.pkl`.
        verbose: 2 prints the path of every file.
    """

    def __init__(
        self,
        save_freq: int,
        save_path: str,
        name_prefix: str = "rl_model",
        save_replay_buffer: bool = False,
        save_vecnormalize: bool = False,
        verbose: int = 0,
    ) -> None:
        super().__init__(save_freq, save_path, name_prefix, verbose)
        self.save_replay_buffer, self.save_vecnormalize = save_replay_buffer, save_vecnormalize

    def _on_step(self) -> bool:
        goes_on = super()._on_step()
        if self.n_calls % self.save_freq == 0:
            model: Any = self.model
            if self.save_replay_buffer and hasattr(model, "save_replay_buffer"):
                self._write(model.save_replay_buffer, "replay_buffer_", "replay buffer checkpoint")
            normalize = model.get_vec_normalize_env()
            if self.save_vecnormalize and normalize is not None:
                self._write(normalize.save, "vecnormalize_", "VecNormalize")
        return goes_on

    def _write(self, write: Callable[[str], Any], part: str, title: str) -> None:
        """Write `PREFIX_PART_N_steps.pkl`, and print its path if `verbose` is 2."""
        name = f"{self.name_prefix}_{part}{self.num_timesteps}_steps.pkl"
        path = os.path.join(self.save_path, name)
        write(path)
        if self.verbose > 1:
            print_on(sys.stdout, f"Saving model {title} to {path}")


class EvalCallback(_EvalCallback):
    """Evaluates the model at regular intervals, and saves the best one.

    If the environment is in a `Monitor`, its returns are used. The row of an evaluation has
    `eval/mean_reward` and `eval/mean_ep_length`. If the last infos of episodes have `is_success`,
    it also has `eval/success_rate`, and `evaluations.npz` has `successes`.

    Args:
        eval_env: an environment, or a vector.
        callback_on_new_best: called when there is a new best model.
        callback_after_eval: called after every evaluation, unless `callback_on_new_best` has
            stopped the training.
        n_eval_episodes, eval_freq, log_path, best_model_save_path, deterministic, render, verbose:
            as in Stable Baselines 2.10.
        warn: whether to warn if `eval_env` is in no `Monitor`.
    """

    takes_vectors = True

    def __init__(
        self,
        eval_env: Any,
        callback_on_new_best: BaseCallback | None = None,
        callback_after_eval: BaseCallback | None = None,
        n_eval_episodes: int = 5,
        eval_freq: int = 10000,
        log_path: str | None = None,
        best_model_save_path: str | None = None,
        deterministic: bool = True,
        render: bool = False,
        verbose: int = 1,
        warn: bool = True,
    ) -> None:
        super().__init__(
            eval_env,
            callback_on_new_best,
            n_eval_episodes,
            eval_freq,
            log_path,
            best_model_save_path,
            deterministic,
            render,
            verbose,
        )
        self.callback_on_new_best, self.callback = self.callback, callback_after_eval
        if callback_after_eval is not None:
            refuse_other(callback_after_eval, "EvalCallback")
            callback_after_eval.parent = self
        self.warn = warn
        self._is_success_buffer: list[bool] = []
        self.evaluations_successes: list[list[bool]] = []

    def _called_callbacks(self) -> Sequence[BaseCallback]:
        return [one for one in (self.callback, self.callback_on_new_best) if one is not None]

    def _on_step(self) -> bool:
        goes_on = super()._on_step()
        is_due = self.eval_freq > 0 and self.n_calls % self.eval_freq == 0
        return goes_on if stops(goes_on) or not is_due else self._on_event()

    def _on_new_best(self) -> bool:
        return self.callback_on_new_best is None or self.callback_on_new_best.on_step()

    def _evaluated(self) -> Any:
        self._is_success_buffer = []
        return self._evaluate(
            self.model,
            self.eval_env,
            n_eval_episodes=self.n_eval_episodes,
            render=self.render,
            deterministic=self.deterministic,
            return_episode_rewards=True,
            callback=self._log_success_callback,
            warn=self.warn,
        )

    def _evaluate(self, model: Any, env: Any, **keywords: Any) -> Any:
        """The returns and lengths of the episodes."""
        return evaluate_policy(model, env, **keywords)

    def _log_success_callback(self, locals_: Mapping[str, Any], _: Mapping[str, Any]) -> None:
        """At the end of an episode, note whether it was a success."""
        is_success = locals_["info"].get("is_success")
        if locals_["done"] and is_success is not None:
            self._is_success_buffer.append(is_success)

    def _more(self) -> dict[str, Any]:
        if not self._is_success_buffer:
            return {}
        self.evaluations_successes.append(self._is_success_buffer)
        return {"successes": self.evaluations_successes}

    def _record(self, lengths: Any) -> None:
        self.logger.record("eval/mean_reward", self.last_mean_reward)
        self.logger.record("eval/mean_ep_length", float(np.mean(lengths)))
        if self._is_success_buffer:
            rate = float(np.mean(self._is_success_buffer))
            if self.verbose > 0:
                print(f"Success rate: {100 * rate:.2f}%")
            self.logger.record("eval/success_rate", rate)
        self.logger.record("time/total_timesteps", self.num_timesteps, exclude="tensorboard")
        self.logger.dump(self.num_timesteps)


class LogEveryNTimesteps(EveryNTimesteps):
    """Writes a row of the log every `n_steps` timesteps, in addition to those of `log_interval`.

    Args:
        n_steps: the least number of timesteps between two rows.
    """

    def __init__(self, n_steps: int) -> None:
        super().__init__(n_steps, ConvertCallback(self._log_data))

    def _log_data(self, _: Any, __: Any) -> bool:
        model: Any = self.model
        model.dump_logs()
        return True


class StopTrainingOnMaxEpisodes(BaseCallback):
    """Stops the training after `max_episodes` episodes per environment, on average.

    Args:
        max_episodes: the number of episodes per environment.
        verbose: 0 prints nothing.
    """

    def __init__(self, max_episodes: int, verbose: int = 0) -> None:
        super().__init__(verbose)
        self.max_episodes, self.n_episodes = max_episodes, 0

    def _on_step(self) -> bool:
        dones = np.asarray(self.locals["dones"])
        self.n_episodes += int(dones.sum())
        goes_on = self.n_episodes < self.max_episodes * len(dones)
        if self.verbose > 0 and not goes_on:
            print(f"Stopping training after {self.n_episodes} episodes")
        return goes_on


class StopTrainingOnNoModelImprovement(BaseCallback):
    """Stops the training after too many evaluations without a new best model.

    Pass it as the `callback_after_eval` of an `EvalCallback`.

    Args:
        max_no_improvement_evals: the largest number of consecutive evaluations without one.
        min_evals: evaluations at the start that are not counted.
        verbose: 0 prints nothing.

    Raises:
        PlanError: when it is called by anything else.
    """

    def __init__(self, max_no_improvement_evals: int, min_evals: int = 0, verbose: int = 0) -> None:
        super().__init__(verbose)
        self.max_no_improvement_evals, self.min_evals = max_no_improvement_evals, min_evals
        self.last_best_mean_reward = -np.inf
        self.no_improvement_evals = 0

    def _on_step(self) -> bool:
        parent = self.parent
        if not isinstance(parent, _EvalCallback):
            raise PlanError(
                "StopTrainingOnNoModelImprovement is called by an EvalCallback: pass it as "
                "EvalCallback(env, callback_after_eval=…)."
            )
        is_better = parent.best_mean_reward > self.last_best_mean_reward
        self.last_best_mean_reward = parent.best_mean_reward
        if is_better:
            self.no_improvement_evals = 0
        elif self.n_calls > self.min_evals:
            self.no_improvement_evals += 1
        goes_on = self.no_improvement_evals <= self.max_no_improvement_evals
        if self.verbose > 0 and not goes_on:
            print(f"Stopping training after {self.no_improvement_evals} evaluations without a best")
        return goes_on


class ProgressBarCallback(BaseCallback):
    """Shows the progress of the training in a line on standard error."""

    def _on_training_start(self) -> None:
        self._shown = -1

    def _on_step(self) -> bool:
        run = self.model.agent.run
        part = int(100 * run.clock.progress())
        if part != self._shown:
            self._shown = part
            sys.stderr.write(f"\r{part:3d} % of {run.clock.total_timesteps:,} timesteps")
        return True

    def _on_training_end(self) -> None:
        sys.stderr.write("\n")
