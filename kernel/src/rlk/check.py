"""What is refused while planning: combinations whose parts say themselves that they do not fit.

Every message names both sides and what to type instead.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from rlk import settings
from rlk.component import STAGES
from rlk.environment import EnvChoice, MakeEnv
from rlk.errors import PlanError

if TYPE_CHECKING:
    from rlk.plan import Choice, Plan
    from rlk.plugins import Hooks

_TYPES = {"n_envs": int, "total_timesteps": int, "log_interval": int, "verbose": int, "device": str}


def run_setting(key: str, value: Any) -> Any:
    """A run setting in its type.

    Raises:
        PlanError: for a wrong type, or a count below its least.
    """
    if value is None and key in ("seed", "n_threads"):
        return None
    try:
        value = settings.convert(value, _TYPES.get(key, int))
    except ValueError as error:
        raise PlanError(f"{key} {error}.") from None
    least = {"n_envs": 1, "n_threads": 1, "log_interval": 1}.get(key, 0)
    if not isinstance(value, str) and value < least:
        raise PlanError(f"{key} must be at least {least}, got {value}.")
    return value


def vector_size(env: EnvChoice, n_envs: Any, by: str) -> tuple[Any, str]:
    """(environments stepped together, who said so): a vector that was passed has its own number.

    Raises:
        PlanError: if another number was asked for.
    """
    if not env.is_vector:
        return n_envs, by
    if by != "default" and n_envs != env.made.num_envs:
        raise PlanError(
            f"n_envs={n_envs} ({by}), but the vector environment {env.name!r} that was passed has "
            f"{env.made.num_envs}. Leave n_envs out."
        )
    return env.made.num_envs, "the vector environment"


def probe(env: EnvChoice, wrappers: Sequence[Choice]) -> tuple[Any, Any]:
    """(observation space, action space) of one environment with its wrappers.

    It is made and closed again.

    Raises:
        PlanError: if it cannot be made, or is no Gymnasium environment.
    """
    import gymnasium as gym

    if env.is_vector:
        return env.made.single_observation_space, env.made.single_action_space
    single = tuple((c.component.load(), c.config) for c in wrappers if c.component.scope == "env")
    try:
        made = MakeEnv(env, single)()
    except PlanError:
        raise
    except Exception as error:
        raise PlanError(
            f"environment {env.name!r} cannot be made: {type(error).__name__}: {error}."
        ) from error
    observation_space = getattr(made, "observation_space", None)
    action_space = getattr(made, "action_space", None)
    if not isinstance(observation_space, gym.Space) or not isinstance(action_space, gym.Space):
        raise PlanError(
            f"environment {env.name!r} is no Gymnasium environment: its observation_space is "
            f"{type(observation_space).__name__} and its action_space "
            f"{type(action_space).__name__}. Both must be "
            "gymnasium.spaces (an old gym environment needs shimmy's wrapper)."
        )
    if not env.is_instance:
        made.close()
    return observation_space, action_space


def spaces_fit(
    algorithm: Choice,
    made: Mapping[str, Choice],
    slots: Mapping[str, Any],
    observation_space: Any,
    action_space: Any,
) -> None:
    """Raises PlanError if the algorithm or the policy cannot serve the environment's spaces."""
    from rlk import spaces

    action = type(action_space).__name__
    served = algorithm.component.action_spaces
    if served and action not in served:
        raise PlanError(
            f"{algorithm.title} serves action spaces {', '.join(served)}, but the environment's is "
            f"{spaces.describe(action_space)}. For algorithms that do: rlk plugins list "
            f"--action-space {action}"
        )
    asked = slots.get("policy")
    if asked is None:
        return
    policy = made[asked.entry.name]
    observation, accepted = spaces.kind(observation_space), policy.component.observation_spaces
    if accepted and observation not in accepted:
        raise PlanError(
            f"{policy.title} takes observations that are {', '.join(accepted)}, but the "
            "environment's are "
            f"{spaces.describe(observation_space)} ({observation}). Say --policy NAME with one of: "
            f"rlk plugins list --observation-space {observation}"
        )


def slots_filled(algorithm: Choice, filled: Mapping[str, Choice]) -> None:
    """Raises PlanError if nothing fills a slot that every run needs."""
    for slot in ("policy", "vec_env", "storage", "optimiser", "serializer"):
        if slot not in filled:
            raise PlanError(
                f"nothing fills the slot {slot!r}: {algorithm.title} names no default. "
                f"Say --{slot.replace('_', '-')} NAME."
            )


def stacked(decorators: Sequence[Choice]) -> tuple[Choice, ...]:
    """Decorating storages in the order of their stages.

    Raises:
        PlanError: if two take the same stage.
    """
    taken: dict[str, Choice] = {}
    for choice in decorators:
        for stage in choice.component.stages:
            if stage in taken:
                raise PlanError(
                    f"{taken[stage].title} and {choice.title} both take the sampling stage "
                    f"{stage!r}. "
                    "Ask for one of them."
                )
            taken[stage] = choice
    return tuple(sorted(decorators, key=lambda c: min(STAGES.index(s) for s in c.component.stages)))


def capabilities(plan: Plan) -> None:
    """Raises PlanError for storages, noises and policies that do not go with the algorithm."""
    algorithm = plan.algorithm
    base, collects = plan.storages[0], algorithm.component.collects
    if base.component.stages:
        raise PlanError(
            f"{base.title} decorates a storage and is none by itself. Say --plugin {base.name}."
        )
    for part in filter(None, (base, plan.noise)):
        theirs = part.component.collects
        if theirs not in (None, "both") and collects not in (None, "both") and theirs != collects:
            raise PlanError(
                f"{part.title} is for {theirs} algorithms, but {algorithm.title} is {collects}. "
                f"Leave it out, or one of: rlk plugins list --collects {collects}"
            )
    served, action = plan.noise and plan.noise.component.action_spaces, type(plan.action_space)
    if plan.noise and served and action.__name__ not in served:
        raise PlanError(
            f"{plan.noise.title} is for actions that are {', '.join(served)}, but the "
            f"environment's are {action.__name__}. Leave it out, or one of: "
            f"rlk plugins list --action-space {action.__name__}"
        )
    reports = set(algorithm.component.reports)
    for storage in plan.storages:
        missing = [need for need in storage.component.needs if need not in reports]
        if missing:
            raise PlanError(
                f"{storage.title} needs {', '.join(missing)} after every update, but "
                f"{algorithm.title} does not "
                f"report it.\nUse --plugin no:{storage.name}, or one of: "
                f"rlk plugins list --reports {missing[0]}"
            )
    if len(plan.storages) > 1 and collects == "on-policy":
        raise PlanError(
            f"{plan.storages[1].title} decorates a replay storage, but {algorithm.title} is "
            "on-policy and keeps "
            f"none. Use --plugin no:{plan.storages[1].name}, or one of: rlk plugins list "
            "--collects off-policy"
        )
    if plan.policy.component.recurrent and not algorithm.component.recurrent:
        raise PlanError(
            f"{plan.policy.title} is recurrent, and {algorithm.title} cannot train recurrent "
            "policies. "
            "Use --policy mlp, or one of: rlk plugins list --recurrent"
        )
    if plan.env.is_instance and plan.n_envs > 1:
        raise PlanError(
            f"one environment object cannot be stepped as {plan.n_envs}. Pass its class or a "
            "function that makes "
            "one, or n_envs=1."
        )


def hooks(plan: Plan, active: Hooks) -> None:
    """Raises PlanError with everything that plugins have against the plan."""
    problems = active.all("rlk_check_plan", plan=plan)
    if problems:
        raise PlanError("\n".join(str(problem) for problem in problems))
