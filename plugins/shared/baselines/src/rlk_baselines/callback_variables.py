"""The variables of `learn` that callbacks find in `locals`, by the names that are documented.

Those that a step of any model has are of `shared`. `Collection` keeps what a collection has shown
so far (A2C, ACER, ACKTR, PPO1, PPO2, TRPO), and `Episodes` those of one environment (DDPG, DQN,
SAC, TD3, PPO1, TRPO). As in Stable Baselines, both go on only after the callback was called. N
environments.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

import attrs
import numpy as np

from rlk.records import Array, Step
from rlk.spaces import map_observation
from rlk_action_scaling import middle_and_half

if TYPE_CHECKING:
    from rlk.running.run import Run

Infos = Sequence[Mapping[str, Any]]
Variables = dict[str, Any]


class Kept(Protocol):
    """What is kept from step to step for callbacks."""

    def begin(self) -> None: ...  #: called before every collection
    def see(self, run: Run, step: Step, infos: Infos) -> Variables: ...  #: before the callback
    def go_on(self, step: Step, infos: Infos) -> None: ...  #: after it


def shared(run: Run, step: Step, infos: Infos) -> Variables:
    """Of every model; those of vectors are [N, …]."""
    done = np.logical_or(step.terminated, step.truncated)
    found: Variables = {
        "obs": step.next_observation,
        "new_obs": step.next_observation,
        "actions": step.action,
        "clipped_actions": env_actions(run, step.action),
        "rewards": step.reward,
        "true_reward": step.reward,
        "dones": done,
        "infos": infos,
        "info": infos[-1],
        "maybe_ep_info": infos[-1].get("episode"),
        "ep_infos": [info["episode"] for info in infos if "episode" in info],
        "n_updates": run.clock.updates,
        "update": run.clock.iterations + 1,
    }
    if "value" in step.extras:
        found["values"] = step.extras["value"]
    if "log_prob" in step.extras:
        found["neglogpacs"] = -step.extras["log_prob"]
    return found


def env_actions(run: Run, actions: Array) -> Array:
    """What the environments were given, for what the policy chose: scaled or clipped to a Box."""
    space: Any = run.action_space
    if not hasattr(space, "low"):
        return actions
    shaped = actions.reshape(len(actions), *space.shape)
    if run.plan.algorithm.component.collects == "off-policy":  # chosen from -1 to 1
        middle, half = (part.reshape(space.shape) for part in middle_and_half(space))
        return np.asarray(middle + half * shaped, space.dtype)
    clipped: Array = np.clip(shaped, space.low, space.high)
    return clipped


@attrs.define
class Collection:
    """A collection so far: lists with an entry for every step."""

    mb_obs: list[Any] = attrs.field(factory=list)
    mb_actions: list[Array] = attrs.field(factory=list)
    mb_values: list[Array] = attrs.field(factory=list)
    mb_neglogpacs: list[Array] = attrs.field(factory=list)
    mb_dones: list[Array] = attrs.field(factory=list)  #: where the observation begins an episode
    mb_rewards: list[Array] = attrs.field(factory=list)  #: without the latest step
    _start: Array | None = None

    def begin(self) -> None:
        for kept in self._lists().values():
            kept.clear()

    def see(self, run: Run, step: Step, infos: Infos) -> Variables:
        start = np.ones(run.n_envs, bool) if self._start is None else self._start
        self.mb_obs.append(map_observation(np.copy, step.observation))
        self.mb_actions.append(step.action.copy())
        self.mb_dones.append(start)
        if "value" in step.extras:
            self.mb_values.append(step.extras["value"].copy())
        if "log_prob" in step.extras:
            self.mb_neglogpacs.append(-step.extras["log_prob"])
        return self._lists()

    def go_on(self, step: Step, infos: Infos) -> None:
        self.mb_rewards.append(step.reward.copy())
        self._start = np.logical_or(step.terminated, step.truncated)

    def _lists(self) -> Variables:
        names = ("obs", "actions", "values", "neglogpacs", "dones", "rewards")
        return {f"mb_{name}": getattr(self, f"mb_{name}") for name in names}


@attrs.define
class Episodes:
    """The episodes of one environment so far, in this call of `learn`."""

    episode_rewards: list[float] = attrs.field(factory=lambda: [0.0])  #: the running one last
    ep_lens: list[int] = attrs.field(factory=list)
    episode_successes: list[float] = attrs.field(factory=list)
    _step: int = 0
    _length: int = 0
    _in_collection: int = 0
    _start_time: float = attrs.field(factory=time.time)

    def begin(self) -> None:
        self._in_collection = 0

    def see(self, run: Run, step: Step, infos: Infos) -> Variables:
        ended = bool(step.terminated[0] or step.truncated[0])
        after = step.final_observation[0] if ended else _first(step.next_observation)
        before, reward = _first(step.observation), float(step.reward[0])
        mean = float(np.mean(self.episode_rewards[-101:-1])) if self.ep_lens else -np.inf
        env_action = env_actions(run, step.action)[0]
        found = self._lists() | {
            **dict.fromkeys(("obs", "obs_", "observation"), before),
            **dict.fromkeys(("new_obs", "new_obs_"), after),
            **dict.fromkeys(("reward", "rew", "reward_"), reward),
            **dict.fromkeys(("env_action", "unscaled_action", "clipped_action"), env_action),
            **dict.fromkeys(("mean_reward", "mean_100ep_reward"), round(mean, 1)),
            "action": step.action[0],
            "done": ended,
            "maybe_is_success": infos[0].get("is_success"),
            "num_episodes": len(self.episode_rewards),
            "can_sample": _can_sample(run),
            "step": self._step,
            "start_time": self._start_time,
            "episode_start": self._length == 0,
        }
        if "value" in step.extras:
            found["vpred"] = float(step.extras["value"][0])
        return found

    def go_on(self, step: Step, infos: Infos) -> None:
        self.episode_rewards[-1] += float(step.reward[0])
        self._step += 1
        self._length += 1
        self._in_collection += 1
        if step.terminated[0] or step.truncated[0]:
            self.episode_rewards.append(0.0)
            self.ep_lens.append(self._length)
            self._length = 0
            if infos[0].get("is_success") is not None:
                self.episode_successes.append(float(infos[0]["is_success"]))

    def _lists(self) -> Variables:
        return {
            "episode_rewards": self.episode_rewards,
            "episode_successes": self.episode_successes,
            "ep_rets": self.episode_rewards[:-1],
            "ep_lens": self.ep_lens,
            "cur_ep_ret": self.episode_rewards[-1],
            "current_ep_len": self._length,
            "current_it_len": self._in_collection,
        }


def _first(observation: Any) -> Any:
    """That of the first environment."""
    return map_observation(lambda part: np.copy(part[0]), observation)


def _can_sample(run: Run) -> bool:
    """Whether the replay, where there is one, has a batch."""
    size = getattr(run.plan.algorithm.config, "batch_size", None)
    return size is not None and hasattr(run.storage, "__len__") and len(run.storage) >= size
