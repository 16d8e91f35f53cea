"""The variables of `learn` that callbacks find in `locals`, by their documented names.

`constants` gives those that do not change during a call of `learn`, `shared` those that every model
has at a step. The others accumulate from step to step, and depend on the algorithm:

- `Collection`, lists with an entry per step of the collection so far: A2C, ACER, ACKTR, PPO2, and
  any on-policy model that learns from several environments;
- `Segment`, arrays as long as the whole collection, of one environment: GAIL, PPO1, TRPO;
- `Episodes`, the episodes of one environment: DDPG, DQN, SAC, TD3.

Shapes: N environments.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from rlk.records import Array, Step
from rlk.running.clock import Clock
from rlk_action_scaling import scaled
from rlk_baselines.common.vec_env.vector_view import copied, row
from rlk_networks.recurrent import is_recurrent

if TYPE_CHECKING:
    from rlk.running.metrics import Means
    from rlk.running.run import Run

Infos = Sequence[Mapping[str, Any]]
Variables = dict[str, Any]


class AccumulatedVariables:
    """Variables that accumulate from step to step.

    As in Stable Baselines, they include a step only after the callback was called for it.
    """

    def begin(self, run: Run) -> None:
        """Prepare for a collection, which begins now."""

    def see(self, run: Run, step: Step, infos: Infos, found: Variables) -> None:
        """Add these variables to those of this step, before the callback is called."""

    def add(self, step: Step, infos: Infos) -> None:
        """Include this step, after the callback."""

    def collected(self) -> Variables:
        """Further variables, and new values, once the collection is complete."""
        return {}

    def updated(self, run: Run, losses: Means) -> Variables:
        """Further variables, after the updates."""
        return {}


def constants(model: Any, total_timesteps: int) -> Variables:
    """The variables that do not change during a call of `learn`."""
    found: Variables = dict.fromkeys(("start_time", "t_start", "t_first_start"), time.time())
    if not model.is_off_policy and not is_recurrent(model.agent.run.policy):
        found["states"] = None
    found |= model.own_constants(total_timesteps)
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
    is_box = hasattr(space, "low")
    if is_box and run.plan.algorithm.component.collects == "off-policy":
        return scaled(space)(actions)
    shaped = actions.reshape(len(actions), *space.shape)
    if is_box:
        return np.clip(shaped, space.low, space.high)
    return np.asarray(shaped + getattr(space, "start", 0), space.dtype)


def first(observation: Any) -> Any:
    """The observation of the first environment, copied."""
    return copied(row(observation, 0))


def after(step: Step) -> Any:
    """The first environment's observation after a step; the last one of an episode that ended."""
    ended = step.terminated[0] or step.truncated[0]
    return copied(step.final_observation[0]) if ended else first(step.next_observation)
