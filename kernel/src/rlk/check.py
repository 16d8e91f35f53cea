"""What is refused while planning: parts that say themselves that they do not fit together.

Every message names both sides and what to type instead.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from rlk.environment import EnvChoice, MakeEnv
from rlk.errors import PlanError

if TYPE_CHECKING:
    from rlk.plan import Choice, Plan


def probe(env: EnvChoice, wrappers: Sequence[Choice]) -> tuple[Any, Any]:
    """(observation space, action space) of one environment with its wrappers, made and closed."""
    import gymnasium as gym

    if env.is_vector:
        return env.made.single_observation_space, env.made.single_action_space
    single = tuple((c.component.load(), c.config) for c in wrappers if c.component.scope == "env")
    try:
        made = MakeEnv(env, single)()
    except PlanError:
        raise
    except Exception as error:
        cause = f"{type(error).__name__}: {error}"
        raise PlanError(f"environment {env.name!r} cannot be made: {cause}.") from error
    spaces = [getattr(made, f"{kind}_space", None) for kind in ("observation", "action")]
    if not all(isinstance(space, gym.Space) for space in spaces):
        found = [type(space).__name__ for space in spaces]
        raise PlanError(
            f"environment {env.name!r} is no Gymnasium environment: its observation_space is "
            f"{found[0]} and its action_space {found[1]}. Both must be gymnasium.spaces (an old "
            "gym environment needs shimmy's wrapper)."
        )
    if not env.is_instance:
        made.close()
    return spaces[0], spaces[1]


def misfits(plan: Plan) -> Iterator[str]:
    """What the parts of a plan have against each other."""
    from rlk import spaces

    algorithm, policy, base = plan.algorithm, plan.policy, plan.storages[0]
    record = algorithm.component
    action = type(plan.action_space).__name__
    if record.action_spaces and action not in record.action_spaces:
        yield (
            f"{algorithm.title} serves action spaces {', '.join(record.action_spaces)}, but the "
            f"environment's is {spaces.describe(plan.action_space)}. For algorithms that do: "
            f"rlk plugins list --action-space {action}"
        )
    observation = spaces.kind(plan.observation_space)
    accepted = policy.component.observation_spaces
    if accepted and observation not in accepted:
        yield (
            f"{policy.title} takes observations that are {', '.join(accepted)}, but the "
            f"environment's are {spaces.describe(plan.observation_space)} ({observation}). Say "
            f"--policy NAME with one of: rlk plugins list --observation-space {observation}"
        )
    if policy.component.recurrent and not record.recurrent:
        yield (
            f"{policy.title} is recurrent, and {algorithm.title} cannot train recurrent policies. "
            "Use --policy mlp, or one of: rlk plugins list --recurrent"
        )
    if len({record.collects, base.component.collects} - {None, "both"}) == 2:
        yield (
            f"{base.title} is for {base.component.collects} algorithms, but {algorithm.title} is "
            f"{record.collects}. Leave --storage out, or one of: rlk plugins list --collects "
            f"{record.collects}"
        )
    taken: dict[str, Choice] = {}
    for storage in plan.storages:
        for need in storage.component.needs:
            if need not in record.reports:
                yield (
                    f"{storage.title} needs {need} after every update, but {algorithm.title} does "
                    f"not report it.\nUse --plugin no:{storage.name}, or one of: rlk plugins list "
                    f"--reports {need}"
                )
        for stage in storage.component.stages:
            if stage in taken:
                yield (
                    f"{taken[stage].title} and {storage.title} both take the sampling stage "
                    f"{stage!r}. Ask for one of them."
                )
            taken[stage] = storage
    if len(plan.storages) > 1 and record.collects == "on-policy":
        decorator = plan.storages[1]
        yield (
            f"{decorator.title} decorates a replay storage, but {algorithm.title} is on-policy and "
            f"keeps none. Use --plugin no:{decorator.name}, or one of: rlk plugins list "
            "--collects off-policy"
        )
    if plan.env.is_vector and plan.n_envs != plan.env.made.num_envs:
        yield (
            f"n_envs={plan.n_envs} ({plan.sources['n_envs']}), but the vector environment "
            f"{plan.env.name!r} that was passed has {plan.env.made.num_envs}. Leave n_envs out."
        )
    if plan.env.is_instance and plan.n_envs > 1:
        yield (
            f"one environment object cannot be stepped as {plan.n_envs}. Pass its class or a "
            "function that makes one, or n_envs=1."
        )
