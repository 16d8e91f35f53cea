"""The variables of `learn` that callbacks find in `locals`, by their documented names.

`constants` gives those that do not change during a call of `learn`, `shared` those that every model
has at a step. Variables that accumulate from step to step depend on the algorithm:

- `Collection`, lists with an entry per step of the collection so far: A2C, ACER, ACKTR, PPO2, and
  any on-policy model that learns from several environments;
- `Segment`, arrays as long as the whole collection, of one environment: GAIL, PPO1, TRPO;
- `Episodes`, the episodes of one environment: DDPG, DQN, SAC, TD3.

As in Stable Baselines, they include a step only after the callback was called for it.
Shapes: N environments.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

import attrs
import numpy as np

from rlk.records import Array, Step
from rlk.running.clock import Clock
from rlk.spaces import map_observation
from rlk_action_scaling import middle_and_half
from rlk_baselines.common.schedules import get_schedule_fn
from rlk_on_policy.recurrent import is_recurrent

if TYPE_CHECKING:
    from rlk.running.metrics import Means
    from rlk.running.run import Run
    from rlk_baselines.common.vec_env import VecNormalize

Infos = Sequence[Mapping[str, Any]]
Variables = dict[str, Any]


class Kept(Protocol):
    """Variables for callbacks that accumulate from step to step."""

    def begin(self, run: Run) -> None: ...  #: called before every collection

    def see(self, run: Run, step: Step, infos: Infos, found: Variables) -> None:
        """Add the accumulated variables to those of this step, before the callback is called."""
        ...

    def go_on(self, step: Step, infos: Infos) -> None: ...  #: after the callback: add this step
    def rest(self, run: Run, losses: Means) -> Variables: ...  #: further ones, after the updates


def constants(model: Any, total_timesteps: int) -> Variables:
    """The variables that do not change during a call of `learn`."""
    run, now = model.agent.run, time.time()
    found: Variables = dict.fromkeys(("start_time", "t_start", "t_first_start"), now)
    algorithm = run.plan.algorithm.name
    if algorithm == "ppo2":
        value = model.cliprange_vf
        found["cliprange_vf"] = None if value is None else get_schedule_fn(value)
        found["n_updates"] = total_timesteps // (run.algorithm.steps_per_collect() * run.n_envs)
    if run.plan.algorithm.component.collects != "off-policy" and not is_recurrent(run.policy):
        found["states"] = None
    if algorithm == "ddpg":
        found["rank"] = run.communicator.rank
    if algorithm in ("ppo1", "trpo") and hasattr(model, "policy_pi"):  # sb3-contrib's has none
        is_gail = _is_gail(model)
        found |= {"policy": model.policy_pi, "env": model.get_env(), "gail": is_gail}
        found |= {"horizon": run.algorithm.steps_per_collect()}
        found |= {} if is_gail else {"reward_giver": None}
    return found


def shared(run: Run, step: Step, infos: Infos, before: Clock) -> Variables:
    """The variables of one step that every model has; arrays are [N, …].

    Args:
        run, step, infos: the run, the step, and its N infos.
        before: the clock when `learn` was called.
    """
    following = copied(step.next_observation)
    found: Variables = {
        "obs": following,
        "new_obs": following,
        "actions": step.action,
        "clipped_actions": env_actions(run, step.action),
        "rewards": step.reward.copy(),
        "dones": np.logical_or(step.terminated, step.truncated),
        "infos": infos,
        "info": infos[-1],
        "maybe_ep_info": infos[-1].get("episode"),
        "update": run.clock.iterations - before.iterations + 1,
    }
    if run.plan.algorithm.component.collects == "off-policy":
        found["n_updates"] = run.clock.updates - before.updates
    if "value" in step.extras:
        found["values"] = step.extras["value"]
    if "log_prob" in step.extras:
        found["neglogpacs"] = -step.extras["log_prob"]
    return found


def env_actions(run: Run, actions: Array) -> Array:
    """The policy's actions as the environments were given them, [N, *shape].

    Actions of a Box are scaled from -1 to 1 (off-policy) or clipped (on-policy); those of a
    Discrete space are offset by its `start`.
    """
    space: Any = run.action_space
    shaped = actions.reshape(len(actions), *space.shape)
    if not hasattr(space, "low"):
        return np.asarray(shaped + getattr(space, "start", 0), space.dtype)
    if run.plan.algorithm.component.collects == "off-policy":  # chosen from -1 to 1
        middle, half = (part.reshape(space.shape) for part in middle_and_half(space))
        return np.asarray(middle + half * shaped, space.dtype)
    clipped: Array = np.clip(shaped, space.low, space.high)
    return clipped


def copied(observation: Any) -> Any:
    """A copy of an observation, whose arrays later steps do not overwrite."""
    return map_observation(np.copy, observation)


def first(observation: Any) -> Any:
    """The observation of the first environment, copied."""
    return map_observation(lambda part: np.copy(part[0]), observation)


def after(step: Step) -> Any:
    """The first environment's observation after a step; the last one of an episode that ended."""
    ended = step.terminated[0] or step.truncated[0]
    return copied(step.final_observation[0]) if ended else first(step.next_observation)


@attrs.define
class Collection:
    """The collection so far: lists with an entry for every step.

    Attributes:
        before: the clock when `learn` was called.
    """

    before: Clock
    lists: Variables = attrs.field(factory=dict)
    _start: Array | None = None
    _steps: int = 0
    _began: float = attrs.field(factory=time.time)

    def begin(self, run: Run) -> None:
        self.lists = {}
        self._steps = run.timesteps - self.before.timesteps

    def see(self, run: Run, step: Step, infos: Infos, found: Variables) -> None:
        lists, extras = self.lists, step.extras
        start = np.ones(run.n_envs, bool) if self._start is None else self._start
        if not lists:
            lists |= {"ep_infos": [], "mb_rewards": []}  # these do not have the current step yet
            lists |= {"mb_states": extras["state"].copy() if "state" in extras else None}
        seen = {"mb_obs": copied(step.observation), "mb_actions": step.action.copy()}
        seen["mb_dones"] = start  # whether the observation is the first of an episode
        if "value" in extras:
            seen["mb_values"] = extras["value"].copy()
        if "log_prob" in extras:
            seen["mb_neglogpacs"] = -extras["log_prob"]
        if run.plan.algorithm.name == "acer":
            seen["mb_mus"] = found["mus"] = _probabilities(extras["parameters"])
            lists.setdefault("enc_obs", []).append(seen["mb_obs"])
            found["steps"] = self._steps
        for name, value in seen.items():
            lists.setdefault(name, []).append(value)
        found |= lists

    def go_on(self, step: Step, infos: Infos) -> None:
        self.lists["mb_rewards"].append(step.reward.copy())
        self.lists["ep_infos"] += [info["episode"] for info in infos if "episode" in info]
        self._start = np.logical_or(step.terminated, step.truncated)

    def rest(self, run: Run, losses: Means) -> Variables:
        """Rewards and episode starts of the collection, [N * T], its speed, and the mean losses."""
        seconds = time.time() - self._began
        steps = run.timesteps - self.before.timesteps
        found: Variables = {"n_seconds": seconds, "fps": int(steps / max(seconds, 1e-9))}
        names = {"true_reward": "mb_rewards", "masks": "mb_dones"}
        for name, kept in names.items():
            found[name] = np.asarray(self.lists[kept]).swapaxes(0, 1).reshape(-1)
        numbers = losses.take()
        found |= {name: numbers[name] for name in ("value_loss", "policy_loss") if name in numbers}
        if "entropy_loss" in numbers:
            found["policy_entropy"] = -numbers["entropy_loss"]
        return found


def _probabilities(logits: Array) -> Array:
    """The probabilities of actions, [N, A]: the softmax of logits [N, A]."""
    powers = np.exp(logits - logits.max(-1, keepdims=True))
    found: Array = powers / powers.sum(-1, keepdims=True)
    return found


class Segment:
    """The collection of one environment so far: arrays of its full length, [T, …].

    Args:
        run: the run; its algorithm gives T.
        knows_rewards: whether the model learns from the environment's rewards. GAIL does not: its
            discriminator gives rewards once the collection is complete.
    """

    def __init__(self, run: Run, *, knows_rewards: bool) -> None:
        self._knows_rewards, steps = knows_rewards, run.algorithm.steps_per_collect()
        self._arrays: Variables = {
            **{name: np.zeros(steps, np.float32) for name in ("true_rewards", "rewards", "vpreds")},
            **{name: np.zeros(steps, bool) for name in ("episode_starts", "dones")},
        }
        self._step = self._length = self._i = 0
        self._return = 0.0
        self._is_start = True
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
            "step": self._step,
            "action": step.action,
            "clipped_action": found["clipped_actions"],
            "vpred": step.extras["value"],
            "observation": after(step),
            "reward": reward,
            "true_reward": reward,
            "done": bool(found["dones"][0]),
            "episode_start": self._is_start,
            "current_it_len": i,
            "current_ep_len": self._length,
            **dict.fromkeys(("cur_ep_ret", "cur_ep_true_ret"), self._return),
            **dict.fromkeys(("ep_rets", "ep_true_rets"), self._returns),
            "ep_lens": self._lengths,
        }
        found["dones"] = arrays["dones"]
        if not self._knows_rewards:
            for name in ("reward", "rewards", "cur_ep_ret", "ep_rets"):
                del found[name]

    def go_on(self, step: Step, infos: Infos) -> None:
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

    def rest(self, run: Run, losses: Means) -> Variables:
        return {}


@attrs.define
class Episodes:
    """The episodes of one environment so far, in this call of `learn`.

    Attributes:
        normalize: the `VecNormalize` around the environment, or None.
        episode_rewards: their returns; the last one is that of the current episode.
        episode_lengths, episode_successes: of finished episodes.
        latest: the returns of the latest 100 finished episodes.
    """

    normalize: VecNormalize | None = None
    episode_rewards: list[float] = attrs.field(factory=lambda: [0.0])
    episode_lengths: list[int] = attrs.field(factory=list)
    episode_successes: list[float] = attrs.field(factory=list)
    latest: deque[float] = attrs.field(factory=lambda: deque(maxlen=100))
    _mean: float = -np.inf
    _step: int = 0
    _length: int = 0
    _remaining: float = 1.0
    _of_updates: Variables = attrs.field(factory=dict)

    def begin(self, run: Run) -> None:
        """Note the learning rate, and the remaining fraction of the run, of the latest updates."""
        rate = float(next(iter(run.optimise.groups.values())).learning_rate)
        self._of_updates = {"current_lr": rate, "frac": self._remaining}
        self._remaining = run.clock.remaining()

    def see(self, run: Run, step: Step, infos: Infos, found: Variables) -> None:
        algorithm = run.plan.algorithm.name
        ended, reward = bool(found["dones"][0]), float(step.reward[0])
        env_action = env_actions(run, step.action)[0]
        found |= {
            "obs": first(step.observation),
            "new_obs": after(step),
            **dict.fromkeys(("reward", "rew"), reward),
            **dict.fromkeys(("env_action", "unscaled_action", "clipped_action"), env_action),
            **dict.fromkeys(("mean_reward", "mean_100ep_reward"), self._mean),
            "action": step.action[0],
            "done": ended,
            "maybe_is_success": infos[0].get("is_success"),
            "num_episodes": len(self.episode_rewards),
            "can_sample": _can_sample(run),
            "step": self._step,
            "episode_rewards": self.episode_rewards,
            "episode_successes": self.episode_successes,
        }
        found["obs_"], found["new_obs_"], found["reward_"] = self._originals(found, ended)
        if algorithm == "dqn":
            del found["actions"], found["rewards"], found["dones"]  # a sampled batch in DQN's learn
            rate = run.actor.metrics().get("rollout/exploration_rate")
            found |= {} if rate is None else {"update_eps": rate}
        elif algorithm == "ddpg":
            found |= self._by_epoch()
        else:
            found |= self._of_updates

    def _originals(self, found: Variables, ended: bool) -> tuple[Any, Any, float]:
        """Observation, next observation and reward before `VecNormalize` normalised them."""
        if self.normalize is None:
            return found["obs"], found["new_obs"], found["reward"]
        before, now, ends = self.normalize.originals()
        last = copied(ends[0]) if ended and 0 in ends else first(now)
        return first(before), last, float(self.normalize.get_original_reward()[0])

    def _by_epoch(self) -> Variables:
        """The variables of DDPG, for which the whole call of `learn` is one epoch."""
        ended = len(self.episode_lengths)
        return {
            "total_steps": self._step,
            "episode_step": self._length,
            "episode_reward": self.episode_rewards[-1],
            **dict.fromkeys(("episodes", "epoch_episodes"), ended),
            "episode_rewards_history": self.latest,
            "epoch_episode_rewards": self.episode_rewards[:-1],
            "epoch_episode_steps": self.episode_lengths,
        }

    def go_on(self, step: Step, infos: Infos) -> None:
        reward = step.reward if self.normalize is None else self.normalize.get_original_reward()
        self.episode_rewards[-1] += float(reward[0])
        self._step += 1
        self._length += 1
        if step.terminated[0] or step.truncated[0]:
            self.latest.append(self.episode_rewards[-1])
            self._mean = round(float(np.mean(self.latest)), 1)
            self.episode_rewards.append(0.0)
            self.episode_lengths.append(self._length)
            self._length = 0
            if infos[0].get("is_success") is not None:
                self.episode_successes.append(float(infos[0]["is_success"]))

    def rest(self, run: Run, losses: Means) -> Variables:
        return {}


def _can_sample(run: Run) -> bool:
    """Whether there is a replay storage that has enough transitions for a batch."""
    size = getattr(run.plan.algorithm.config, "batch_size", None)
    return size is not None and hasattr(run.storage, "__len__") and len(run.storage) >= size


def kept_for(model: Any, before: Clock) -> list[Kept]:
    """The variables that accumulate for the callbacks of a model; none, or one object.

    Args:
        model: the model that learns.
        before: the clock when `learn` was called.
    """
    run = model.agent.run
    is_off_policy = run.plan.algorithm.component.collects == "off-policy"
    if model.learns_from_vectors or model.n_envs > 1:
        return [] if is_off_policy else [Collection(before)]
    if is_off_policy:
        return [Episodes(model.get_vec_normalize_env())]
    return [Segment(run, knows_rewards=not _is_gail(model))]


def _is_gail(model: Any) -> bool:
    """Whether the model learns from a discriminator's rewards."""
    from rlk_baselines.gail import GAIL  # not at the top: every model imports this file

    return isinstance(model, GAIL)
