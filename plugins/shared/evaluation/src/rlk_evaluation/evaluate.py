"""Evaluation: whole episodes of a policy in separate environments, with seeds of their own.

Dimensions: N environments played together.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import attrs
import numpy as np

from rlk import settings
from rlk.episode_ends import counted, reported_return, success, was_lost
from rlk.errors import EnvironmentFailed, NotFinite, PlanError, RlkError
from rlk.finite import finite_check, first_non_finite
from rlk.program_warnings import warn_program
from rlk.records import Array
from rlk.running.actors import check_act
from rlk.settings import at_least

if TYPE_CHECKING:
    from rlk.agent import Agent
    from rlk.running.run import Run

#: (observation, state, episode_start) -> (action, state), like `Agent.predict`.
Predict = Callable[[Any, Any, Array], tuple[Array, Any]]
#: The random stream of evaluations; training does not use it.
STREAM = "evaluation"
#: After so many episodes in a row that broke off, an evaluation ends: it might never end otherwise.
MOST_LOST = 20
#: An episode of so many steps may never end, as in an environment without an end: that is said.
LONG_EPISODE = 100_000


@attrs.frozen
class Evaluation:
    """The episodes of one evaluation, in the order they ended.

    Attributes:
        returns: undiscounted; those of a Monitor if there is one, because wrappers may scale
            rewards.
        lengths: in steps.
        successes: how far each was one, 0 to 1, of the episodes whose last info has `is_success`.
        timesteps: of training at the time of the evaluation.
        number: which of several evaluations of the run, as in another environment, from 1.
    """

    returns: list[float]
    lengths: list[int]
    successes: list[float] = attrs.field(factory=list)
    timesteps: int = 0
    number: int = 1

    @property
    def mean_return(self) -> float:
        return float(np.mean(self.returns))

    @property
    def std_return(self) -> float:
        """Over the episodes, with N in the denominator, as in Stable Baselines 2.10."""
        return float(np.std(self.returns))

    @property
    def mean_length(self) -> float:
        return float(np.mean(self.lengths))

    @property
    def success_rate(self) -> float | None:
        """0 to 1, or None if the environment does not report `is_success`."""
        return float(np.mean(self.successes)) if self.successes else None


def play_episodes(
    predict: Predict,
    env: Any,
    episodes: int = 10,
    *,
    least_steps: int = 0,
    seeds: list[int] | None = None,
    on_episode: Callable[[float, int], None] | None = None,
) -> Evaluation:
    """Play `episodes` whole episodes.

    Each environment plays a fixed share of them (the first `episodes % N` play one more), so that
    short episodes are not counted more often than long ones. An environment that has played its
    share is still stepped, but not counted, and neither is an episode that broke off because its
    environment was lost (`rlk.episode_ends.was_lost`): another one is played. An episode of
    `LONG_EPISODE` steps is warned of.

    Args:
        predict: like `Agent.predict`; its state is None in the first call.
        env: a vector environment of N.
        least_steps: further episodes, one in each environment at a time, are played until the
            counted ones have at least this many steps.
        seeds: of the environments' first reset; None leaves their generators unchanged.
        on_episode: called with the return and the length of every counted episode.

    Raises:
        ValueError: if there is no episode to play.
        NotFinite: if the environment returns NaN or infinity as a reward or in an observation.
        EnvironmentFailed: if `MOST_LOST` episodes in a row broke off.
    """
    from rlk.running.flat_observations import flattened
    from rlk_vector_environments.adoption import adopt

    if episodes < 1:
        raise ValueError(f"episodes must be at least 1, got {episodes}")
    env = flattened(adopt(env))
    n_envs = env.num_envs
    share = np.full(n_envs, episodes // n_envs) + (np.arange(n_envs) < episodes % n_envs)
    returns, lengths = np.zeros(n_envs), np.zeros(n_envs, dtype=np.int64)
    result = Evaluation([], [])
    observed_finite = finite_check(env.single_observation_space)
    observation, _ = env.reset(seed=seeds)
    state, start, lost = None, np.ones(n_envs, dtype=bool), 0
    while share.any():
        _warn_of_long(lengths)
        if not observed_finite(observation):
            _refuse_non_finite(observation)
        action, state = predict(observation, state, start)
        observation, reward, terminated, truncated, infos = env.step(action)
        returns += reward
        lengths += 1
        start = np.logical_or(terminated, truncated)
        if not start.any():
            continue
        _check_finite(returns)
        final = infos.get("final_info", {})
        for index in map(int, np.flatnonzero(counted(start, infos))):
            if share[index] > 0 and was_lost(final, index):
                lost += 1
                _check_lost(lost)
            elif share[index] > 0:
                share[index], lost = share[index] - 1, 0
                _count(result, index, final, returns, lengths)
                if on_episode is not None:
                    on_episode(result.returns[-1], result.lengths[-1])
            returns[index], lengths[index] = 0.0, 0
        if not share.any() and sum(result.lengths) < least_steps:
            share += 1
    return result


def _count(
    result: Evaluation, index: int, final: dict[str, Any], returns: Array, lengths: Array
) -> None:
    """Add one finished episode to the result."""
    result.returns.append(reported_return(final, index, returns[index]))
    result.lengths.append(int(lengths[index]))
    told = success(final, index)
    if told is not None:
        result.successes.append(told)


def _refuse_non_finite(observation: Any) -> None:
    """Raise NotFinite, which names the first number that is not finite."""
    found = first_non_finite(observation)
    if found is not None:
        index, what = found
        raise NotFinite(
            f"evaluation environment {index} gave {what}. Correct the environment, or wrap it to "
            "clip its observations."
        )


def _warn_of_long(lengths: Array) -> None:
    """Warn of an episode that may never end, so that an evaluation does not wait in silence."""
    if lengths.max() == LONG_EPISODE:
        warn_program(
            f"an episode of an evaluation has not ended after {LONG_EPISODE:,} steps, and the "
            "evaluation waits for its end. If the environment has none, give it a time limit "
            "(--plugin gymnasium.wrappers:TimeLimit:max_episode_steps=1000)."
        )


def _check_lost(lost: int) -> None:
    """Raise EnvironmentFailed if too many episodes in a row broke off."""
    if lost >= MOST_LOST:
        raise EnvironmentFailed(
            f"{lost} episodes of an evaluation in a row broke off, because their environments were "
            "lost; the warnings say why. Correct the environment."
        )


def _check_finite(returns: Array) -> None:
    """A return is finite only if every reward in it was; checked when an episode ends."""
    if not np.isfinite(returns).all():
        index = int(np.flatnonzero(~np.isfinite(returns))[0])
        raise NotFinite(
            f"evaluation environment {index} gave rewards that sum to {returns[index]} in one "
            "episode. Correct the environment, or wrap it to clip its rewards."
        )


def evaluate_run(
    run: Run,
    env: Any,
    episodes: int,
    *,
    seeds: list[int],
    least_steps: int = 0,
    deterministic: bool = True,
    on_episode: Callable[[float, int], None] | None = None,
) -> Evaluation:
    """Episodes of a run's present policy, without exploration noise.

    First, plugins may change the environments (`rlk_prepare_evaluation`). The actor is a new one
    with its own generator, made from the seeds: so the result depends only on parameters, seeds and
    these plugins, and training's actor and streams are not affected.
    """
    from rlk.running.seeding import Streams

    run.notify("rlk_prepare_evaluation", env=env)
    # A named stream, because the first environment has the generator of the bare seed.
    actor = run.make_actor(Streams(seeds[0]).numpy(STREAM))

    def predict(observation: Any, carry: Any, start: Array) -> tuple[Array, Any]:
        carry = actor.start(env.num_envs) if carry is None else carry
        act = actor.act(observation, carry, start, deterministic)
        check_act(actor, act)
        return act.env_action, act.carry

    result = play_episodes(
        predict, env, episodes, least_steps=least_steps, seeds=seeds, on_episode=on_episode
    )
    return attrs.evolve(result, timesteps=run.timesteps)


@attrs.frozen(kw_only=True)
class _Asked:
    """The numbers that `evaluate_agent` is asked with."""

    episodes: int = attrs.field(validator=at_least(1))
    n_envs: int | None = attrs.field(validator=at_least(1, or_none=True))
    seed: int | None = attrs.field(validator=at_least(0, or_none=True))


def evaluate_agent(
    agent: Agent,
    episodes: int = 10,
    *,
    n_envs: int | None = None,
    seed: int | None = None,
    deterministic: bool = True,
    env: Any = None,
    on_episode: Callable[[float, int], None] | None = None,
    **extra: Any,
) -> Evaluation:
    """Whole episodes of an agent in separate environments.

    Args:
        episodes: number to play. n_envs: number of environments that play together; None is 1.
        seed: of these episodes; None derives one from the run's. Training uses neither of these
            seeds.
        deterministic: whether actions are the policy's mode instead of a sample.
        env: a vector environment to use instead, which is not closed; without `n_envs` and `extra`.
        on_episode: as in `play_episodes`.
        extra: keywords for the environment (`render_mode="human"`).

    Raises:
        RlkError: if the agent's environment was passed as an object, so that no second one can be
            made.
        PlanError: if `env` is no vector environment, or comes with what only others could have; if
            `episodes` or `n_envs` is not a whole number of at least 1, or `seed` of at least 0.
    """
    from rlk.running.seeding import Streams
    from rlk.running.vec_env import make_vec_env

    given = {"episodes": episodes, "n_envs": n_envs, "seed": seed}
    asked = settings.structure(_Asked, given, "evaluate_agent")
    run, own = agent.run, env is None
    if own:
        complain = no_second_environment(agent.plan.env)
        if complain:
            raise RlkError(f"cannot evaluate: {complain} Pass env=…, a vector environment.")
        env = make_vec_env(agent.plan, run.hooks, asked.n_envs or 1, training=False, **extra)
    else:
        _check_given(env, extra if n_envs is None else {"n_envs": n_envs, **extra})
    streams = run.streams if asked.seed is None else Streams(asked.seed)
    try:
        return evaluate_run(
            run,
            env,
            asked.episodes,
            seeds=streams.integers(STREAM, env.num_envs),
            deterministic=deterministic,
            on_episode=on_episode,
        )
    finally:
        if own:
            env.close()


def _check_given(env: Any, unused: Mapping[str, Any]) -> None:
    """Raise PlanError for an `env` that is no vector, or for keywords that would change nothing."""
    if not hasattr(env, "num_envs"):
        raise PlanError(
            f"evaluate_agent plays in a vector environment, got {type(env).__name__}. Pass env="
            "gymnasium.vector.SyncVectorEnv([a function that makes one], "
            "autoreset_mode='SameStep'), or no env for one like the agent's own."
        )
    if unused:
        raise PlanError(
            f"evaluate_agent does not use {', '.join(unused)} with env=…: such keywords make the "
            "environments where none are passed. Leave them out, or give them to what makes env."
        )


def no_second_environment(env: Any) -> str | None:
    """Why an `EnvChoice` cannot give a second environment to evaluate in, or None if it can."""
    if not env.is_finished:
        return None
    return (
        f"environment {env.name!r} was passed as a finished object, so there is no second one to "
        "evaluate in; pass its class or a function that makes it."
    )
