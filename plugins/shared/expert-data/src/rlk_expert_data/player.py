"""One interface for recording, around environments of any kind. N environments."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import gymnasium as gym
import numpy as np
from gymnasium.vector import AutoresetMode, VectorEnv

from rlk.errors import PlanError
from rlk.planning.environment import choose_environment
from rlk.records import Array
from rlk.registry.kernel import default_kernel
from rlk.spaces import flat_observation, map_observation
from rlk_expert_data.dict_observations import as_batch

if TYPE_CHECKING:
    from rlk.agent import Agent


class Ending(NamedTuple):
    """How an episode ended."""

    observation: Any  #: the final one
    terminated: bool  #: False where it was truncated


#: By environment, the episodes that ended in a step; None where its end is not known.
Endings = Mapping[int, Ending | None]


@dataclass(frozen=True)
class Player:
    """Environments that start a new episode in the step that ends one.

    Attributes:
        n_envs: N.
        observation_space, action_space: of one environment.
        reset: () -> observations [N, …].
        step: actions [N, …] -> (observations [N, …], rewards [N], endings); if an episode ended,
            the observation is the first of the next one.
        close: closes environments made for the recording; one that was passed stays open.
    """

    n_envs: int
    observation_space: Any
    action_space: Any
    reset: Callable[[], Any]
    step: Callable[[Any], tuple[Any, Array, Endings]]
    close: Callable[[], None] = lambda: None


def player_of(env: Any, seed: int | None = None) -> Player:
    """The player for a Gymnasium environment, an id, or a vector environment.

    Args:
        env: the environment, or anything that `--env` takes.
        seed: of its first reset; None leaves its random generator unchanged.

    Raises:
        PlanError: for anything else, or a vector environment that restarts in a separate step.
    """
    if isinstance(env, str):
        made = choose_environment(env, default_kernel().registries, {}).make()
        return replace(_of_one(made, seed), close=made.close)
    if isinstance(env, gym.Env):
        return _of_one(env, seed)
    if not isinstance(env, VectorEnv):
        raise PlanError(
            f"an expert is recorded in an environment of Gymnasium's, got {type(env).__name__}."
        )
    return _of_vector(env, seed)


def player_like_agents(agent: Agent, seed: int | None = None) -> Player:
    """The player for environments like those that an agent trains in, made as for an evaluation.

    Their wrappers keep the environment's own rewards, and learn nothing from the recording; plugins
    prepare them as for an evaluation. An environment that was passed as an object is the only one
    of its kind: it is used itself, as training left it, and the agent's next training begins with a
    reset of it.

    Args:
        agent: the agent.
        seed: of the first reset; None derives one from the agent's and its timesteps in all calls
            of `learn`.
    """
    from rlk.running.vec_env import make_vec_env  # not at the top: it imports torch

    run, plan = agent.run, agent.plan
    env = make_vec_env(plan, run.hooks, run.env.num_envs, training=False)
    name = f"expert at {run.clock.cumulative_timesteps}"
    player = _of_vector(env, run.streams.integers(name, env.num_envs) if seed is None else seed)
    if plan.env.is_finished:
        run.collector.forget()
        return player
    run.notify("rlk_prepare_evaluation", env=env)
    return replace(player, close=env.close)


def _of_vector(env: Any, seed: int | list[int] | None) -> Player:
    mode = AutoresetMode(env.metadata.get("autoreset_mode", AutoresetMode.NEXT_STEP))
    if mode is not AutoresetMode.SAME_STEP:
        raise PlanError(
            "an expert is recorded in vector environments that begin an episode in the step that "
            "ends one: make it with autoreset_mode=gymnasium.vector.AutoresetMode.SAME_STEP."
        )

    def step(actions: Any) -> tuple[Any, Array, Endings]:
        observation, reward, terminated, truncated, infos = env.step(actions)
        ended = np.flatnonzero(terminated | truncated).tolist()
        return observation, reward, {i: _ending(infos, i, terminated[i]) for i in ended}

    return Player(
        env.num_envs,
        env.single_observation_space,
        env.single_action_space,
        lambda: env.reset(seed=seed)[0],
        step,
    )


def _ending(infos: Mapping[str, Any], env: int, terminated: Any) -> Ending | None:
    """How the episode of this environment ended; None if the infos have no final observation.

    That of a Dict space becomes a dict of one level.
    """
    if "final_obs" not in infos:
        return None
    final = map_observation(lambda part: part[env], infos["final_obs"])
    return Ending(flat_observation(final), bool(terminated))


def _of_one(env: gym.Env[Any, Any], seed: int | None) -> Player:
    def reset(seed: int | None = None) -> Any:
        return as_batch(env.reset(seed=seed)[0])

    def step(actions: Any) -> tuple[Any, Array, Endings]:
        observation, reward, terminated, truncated, _ = env.step(actions[0])
        rewards, ended = np.array([reward], np.float64), bool(terminated or truncated)
        if not ended:
            return as_batch(observation), rewards, {}
        final = map_observation(np.array, observation)  # the reset may write into its arrays
        return reset(), rewards, {0: Ending(final, bool(terminated))}

    return Player(1, env.observation_space, env.action_space, lambda: reset(seed), step)
