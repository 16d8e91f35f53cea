"""The variables of callbacks that are arrays as long as the whole collection.

Shapes: T steps of a collection, of one environment.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from rlk.records import Step
from rlk_baselines.callback_variables import AccumulatedVariables, Infos, Variables, after, first

if TYPE_CHECKING:
    from rlk.running.run import Run


class Segment(AccumulatedVariables):
    """The collection of one environment so far: arrays of its full length, [T, …].

    An episode that an earlier call of `learn` left unfinished goes on.

    Args:
        run: the run; its algorithm gives T, and its collector the current episode so far.
        knows_rewards: whether the model learns from the environment's rewards. GAIL does not: its
            discriminator gives rewards once the collection is complete.
    """

    def __init__(self, run: Run, *, knows_rewards: bool) -> None:
        self._knows_rewards, steps = knows_rewards, run.algorithm.steps_per_collect()
        self._arrays: Variables = {
            **{name: np.zeros(steps, np.float32) for name in ("true_rewards", "rewards", "vpreds")},
            **{name: np.zeros(steps, bool) for name in ("episode_starts", "dones")},
        }
        self._step = self._i = 0
        running = run.collector.state_dict()
        self._return, self._length = float(running["returns"][0]), int(running["lengths"][0])
        self._is_start = bool(running["start"][0])
        self._returns: list[float] = []
        self._lengths: list[int] = []

    def begin(self, run: Run) -> None:
        self._i, self._returns, self._lengths = 0, [], []

    def see(self, run: Run, step: Step, infos: Infos, found: Variables) -> None:
        arrays, i, before = self._arrays, self._i, first(step.observation)
        if "actions" not in arrays:
            steps = len(arrays["dones"])
            arrays["actions"] = np.stack([step.action[0]] * steps)
            if isinstance(before, np.ndarray):  # a Dict observation is not one array
                arrays["observations"] = np.stack([before] * steps)
        if "observations" in arrays:
            arrays["observations"][i] = before
        arrays["actions"][i], arrays["episode_starts"][i] = step.action[0], self._is_start
        arrays["vpreds"][i] = step.extras["value"][0]
        reward = float(step.reward[0])
        found |= arrays | {
            "i": i,
            "action": step.action,
            "clipped_action": found["clipped_actions"],
            "vpred": step.extras["value"],
            "observation": after(step),
            "reward": reward,
            "true_reward": reward,
            "done": bool(found["dones"][0]),
            **self._counts(),
            **dict.fromkeys(("ep_rets", "ep_true_rets"), self._returns),
            "ep_lens": self._lengths,
        }
        found["dones"] = arrays["dones"]
        if not self._knows_rewards:
            for name in ("reward", "rewards", "ep_rets"):
                del found[name]

    def collected(self) -> Variables:
        """The counts with the last step; arrays and lists have it already."""
        return self._counts()

    def _counts(self) -> Variables:
        """What is counted from step to step, without the step that is still to be added."""
        found: Variables = {
            "step": self._step,
            "episode_start": self._is_start,
            "current_it_len": self._i,
            "current_ep_len": self._length,
            "cur_ep_true_ret": self._return,
        }
        return found | ({"cur_ep_ret": self._return} if self._knows_rewards else {})

    def add(self, step: Step, infos: Infos) -> None:
        done, reward = bool(step.terminated[0] or step.truncated[0]), float(step.reward[0])
        self._arrays["rewards"][self._i] = self._arrays["true_rewards"][self._i] = reward
        self._arrays["dones"][self._i] = self._is_start = done
        self._return += reward
        self._step, self._length, self._i = self._step + 1, self._length + 1, self._i + 1
        if done:
            told: Any = infos[0].get("episode")  # as a monitor counted it
            is_told = isinstance(told, Mapping) and "r" in told
            self._returns.append(float(told["r"]) if is_told else self._return)
            self._lengths.append(self._length)
            self._return, self._length = 0.0, 0
