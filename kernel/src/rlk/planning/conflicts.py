"""The reasons to refuse a plan, each with what to type instead."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import NamedTuple

from rlk.component import Component
from rlk.errors import PlanError
from rlk.planning.choice import Choice
from rlk.planning.configure import naming_origins
from rlk.planning.layers import Rank
from rlk.planning.plan import Plan
from rlk.registry.external import is_external
from rlk.registry.kinds import LISTS


class Conflict(NamedTuple):
    """Why a component does not fit into a run."""

    reason: str
    filter: str  #: the options of `rlk plugins list` that list components that would fit
    or_else: str = ""  #: what else would help
    of_algorithms: bool = False  #: whether these are algorithms with which the component fits
    of_spaces: bool = False  #: whether it is the environment's spaces that the component refuses


def conflicts(plan: Plan) -> Iterator[str]:
    """All conflicts between the components of a plan, as messages."""
    for choice in plan.choices():
        conflict = _first_conflict(plan, choice)
        if conflict is not None and conflict.of_spaces and _is_saved(plan, choice):
            yield f"{conflict.reason}.\nUse an environment that has the spaces of training."
        elif conflict is not None:
            use = _instead(plan, choice) + ", or another algorithm" * conflict.of_algorithms
            lists = f"To list what fits: rlk plugins list {conflict.filter}{conflict.or_else}"
            yield f"{conflict.reason}.\nUse {use}. {lists}"
    yield from _shared_stages(plan)
    yield from _several_policies(plan)
    yield from _own_checks(plan)
    yield from _number_of_environments(plan)
    yield from _serializer_of_no_name(plan)


def _instead(plan: Plan, choice: Choice) -> str:
    """What to type to keep a component out of the run."""
    if choice.component.stages or choice.kind in LISTS:
        return choice.without_it
    activates = plan.algorithm.component.activates
    switches = [f" (--set {key}=false)" for key, name in activates.items() if name == choice.name]
    return f"another {choice.slot}{''.join(switches)}"


def _is_saved(plan: Plan, choice: Choice) -> bool:
    """Whether a component is of a saved run, in which it fitted the environment of training."""
    return plan.sources["env"].rank == choice.origin.rank == Rank.SAVED


def _first_conflict(plan: Plan, choice: Choice) -> Conflict | None:
    """The first reason to refuse one component."""
    if _needs_no_space(plan, choice):
        return _reports(plan, choice)
    found = (rule(plan, choice) for rule in _RULES)
    return next((conflict for conflict in found if conflict is not None), None)


def _needs_no_space(plan: Plan, choice: Choice) -> bool:
    """Whether a component is not checked against the spaces of the plan.

    Wrappers made these spaces. A noise must fit them only if its algorithm does; otherwise there is
    already a message about the algorithm.
    """
    served = plan.algorithm.component.action_spaces
    algorithm_fits = not served or type(plan.action_space).__name__ in served
    return choice.kind == "wrappers" or (choice.slot == "noise" and not algorithm_fits)


def _reports(plan: Plan, choice: Choice) -> Conflict | None:
    algorithm = plan.algorithm
    missing = [need for need in choice.component.needs if need not in algorithm.component.reports]
    if not missing:
        return None
    return Conflict(
        f"{choice.title} needs {', '.join(missing)} after every update, but {algorithm.title} does "
        "not report it",
        f"--reports {missing[0]}",
        of_algorithms=True,
    )


def _action_space(plan: Plan, choice: Choice) -> Conflict | None:
    from rlk.planning.usable_spaces import or_wrap  # not at the top: it needs gymnasium
    from rlk.spaces import describe

    served, found = choice.component.action_spaces, type(plan.action_space).__name__
    if not served or found in served:
        return None
    return Conflict(
        f"{choice.title} serves action spaces {', '.join(served)}, but the environment's is "
        f"{describe(plan.action_space)}",
        f"--action-space {found}",
        or_wrap(plan.action_space, "Action"),
        of_spaces=True,
    )


def _observation_space(plan: Plan, choice: Choice) -> Conflict | None:
    from rlk.planning.usable_spaces import or_wrap  # not at the top: it needs gymnasium
    from rlk.spaces import describe, kinds

    space = plan.policy_space if choice.slot == "policy" else plan.observation_space
    served, found = choice.component.observation_spaces, kinds(space)
    if not served or set(found) & set(served):
        return None
    return Conflict(
        f"{choice.title} takes observations that are {', '.join(served)}, but the environment's "
        f"are {describe(space)}",
        f"--observation-space {found[0]}",
        or_wrap(space, "Observation") + _or_add_nothing(plan, served),
        of_spaces=True,
    )


def _or_add_nothing(plan: Plan, served: Collection[str]) -> str:
    """What else to type where a plugin adds to observations that would fit by themselves."""
    from rlk.spaces import kinds  # not at the top: it needs gymnasium

    if not set(kinds(plan.policy_space)) & set(served):
        return ""
    names = plan.hooks().implementers("rlk_policy_space")
    without = " ".join(f"--plugin no:{name}" for name in names)
    return f"\nOr leave out what adds to the observations: {without}."


def _collects(plan: Plan, choice: Choice) -> Conflict | None:
    algorithm, own = plan.algorithm.component.collects, choice.component.collects
    if collects_alike(choice.component, choice.kind, plan.algorithm.component):
        return None
    serves = str(own).replace("both", "combined on- and off-policy")
    learns = str(algorithm).replace("both", "on- and off-policy")
    return Conflict(
        f"{choice.title} is for {serves} algorithms, but {plan.algorithm.title} is {learns}",
        f"--collects {algorithm}",
    )


def collects_alike(component: Component, kind: str, algorithm: Component) -> bool:
    """Whether a component of that kind is for what learns as this algorithm does."""
    learns, serves = algorithm.collects, component.collects
    if learns == serves or None in (learns, serves):
        return True
    # What learns in both ways does so with one storage and one actor.
    return learns == "both" and kind not in ("storages", "noises")


def fits(component: Component, kind: str, algorithm: Component) -> bool:
    """Whether some run of an algorithm may have a component of that kind, by their records."""
    served, own = set(algorithm.action_spaces), set(component.action_spaces)
    is_recurrent = kind == "policies" and component.recurrent
    return (
        (not served or not own or bool(served & own))
        and collects_alike(component, kind, algorithm)
        and (algorithm.recurrent or not is_recurrent)
    )


def _steps_nothing(plan: Plan, choice: Choice) -> Conflict | None:
    learns = plan.algorithm.component.collects
    if not choice.component.steps_nothing or learns not in ("on-policy", "both"):
        return None
    return Conflict(
        f"{choice.title} steps no environment, but {plan.algorithm.title} learns from the latest "
        "collection",
        "--collects off-policy",
        of_algorithms=True,
    )


def _decorates(plan: Plan, choice: Choice) -> Conflict | None:
    if not choice.component.stages or plan.algorithm.component.collects != "on-policy":
        return None
    return Conflict(
        f"{choice.title} decorates a replay storage, but {plan.algorithm.title} is on-policy and "
        "keeps none",
        "--collects off-policy",
    )


def _recurrent(plan: Plan, choice: Choice) -> Conflict | None:
    is_recurrent = choice.slot == "policy" and choice.component.recurrent
    if not is_recurrent or plan.algorithm.component.recurrent:
        return None
    return Conflict(
        f"{plan.algorithm.title} cannot train recurrent policies such as {choice.title}",
        "--kind algorithms --recurrent",
        of_algorithms=True,
    )


def _deterministic(plan: Plan, choice: Choice) -> Conflict | None:
    if not choice.component.perturbs_policy or plan.algorithm.component.deterministic:
        return None
    return Conflict(
        f"{choice.title} perturbs a copy of the policy, but {plan.algorithm.title} does not act "
        "with another policy (rlk.abilities.FollowsPolicy)",
        "--kind algorithms --deterministic",
        of_algorithms=True,
    )


#: The checks of each component, in this order.
_RULES = (
    _reports,
    _action_space,
    _observation_space,
    _collects,
    _steps_nothing,
    _decorates,
    _recurrent,
    _deterministic,
)


def _own_checks(plan: Plan) -> Iterator[str]:
    """The conflicts that components' own checks find."""
    for choice in plan.choices():
        if choice.component.check is not None:
            sources = {**plan.sources, **plan.algorithm.sources, **choice.sources}
            try:
                with naming_origins(sources, with_value=True):
                    choice.component.check(choice.config, plan)
            except PlanError as error:
                yield str(error)


def _shared_stages(plan: Plan) -> Iterator[str]:
    """Two storages that take the same sampling stage."""
    takers: dict[str, Choice] = {}
    for choice in plan.storages:
        for stage in choice.component.stages:
            other = takers.setdefault(stage, choice)
            if other is not choice:
                both = f"{other.title} and {choice.title} both take the sampling stage"
                yield f"{both} {stage!r}. Ask for one of them."


def _several_policies(plan: Plan) -> Iterator[str]:
    """Two noises that each act with a policy of their own."""
    names = [choice.title for choice in plan.noises if choice.component.perturbs_policy]
    if len(names) > 1:
        both = " and ".join(names)
        yield f"{both} all act by a policy of their own. Ask for one of them."


def _number_of_environments(plan: Plan) -> Iterator[str]:
    """A number of environments that differs from the number that was passed."""
    if plan.env.size not in (None, plan.n_envs):
        by = plan.sources.get("n_envs", "default")
        yield (
            f"n_envs={plan.n_envs} ({by}), but {plan.env.name!r} was passed as an object and "
            f"has {plan.env.size}. Use n_envs={plan.env.size}, or pass what makes one."
        )


def _serializer_of_no_name(plan: Plan) -> Iterator[str]:
    """A serializer from a place or an object: its files are looked for by nobody.

    Whoever reads a saved file tries the serializers that have a name.
    """
    choice = plan.serializer
    if is_external(choice.dist):
        yield (
            f"serializer {choice.name!r} ({choice.dist}) has no name, so nothing would read the "
            "files that it writes. Register it in every program that reads them: "
            f"rlk.registry.serializers.register('my-serializer', {choice.name}). For the command "
            "line, make a package of it: rlk plugins new my-serializer --kind serializer"
        )
