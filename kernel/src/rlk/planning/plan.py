"""The plan: which component fills each slot of a run, with which settings, and who chose it.

`resolve.py` makes a Plan, and `running/build.py` builds a Run from it; nothing is built here.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import attrs

from rlk import settings
from rlk.abilities import KeepsInfos, offers
from rlk.plain_values import plain
from rlk.planning.choice import Choice, activated
from rlk.planning.environment import EnvChoice
from rlk.planning.layers import Origin, Rank
from rlk.planning.run_settings import RUN_SETTINGS, RunSettings
from rlk.registry.hooks import Hooks
from rlk.registry.kernel import Kernel
from rlk.registry.kinds import LISTS, SLOTS, STACKED, group_slot, is_group_slot


@attrs.frozen(kw_only=True, repr=False)
class Plan(RunSettings):
    """All components of a run, and its settings."""

    algorithm: Choice
    policy: Choice
    vec_env: Choice
    collector: Choice
    optimiser: Choice
    serializer: Choice
    storages: tuple[Choice, ...]  #: the base, then decorating ones in the order of their stages
    optimisers: Mapping[str, Choice] = attrs.field(factory=dict)  #: of single groups, by slot
    distribution: Choice | None = None
    noises: tuple[Choice, ...] = ()  #: innermost first
    wrappers: tuple[Choice, ...] = ()  #: innermost first
    callbacks: tuple[Choice, ...] = ()
    loggers: tuple[Choice, ...] = ()
    extensions: tuple[Choice, ...] = ()
    env: EnvChoice
    observation_space: Any  #: of one environment, wrapped
    #: The space that the policy is built for: a plugin may remove a part (`rlk_policy_space`).
    policy_space: Any = attrs.field(
        default=attrs.Factory(lambda self: self.observation_space, takes_self=True)
    )
    action_space: Any  #: of one environment, wrapped
    spaces_inside: tuple[Any, Any]  #: both, inside the wrappers of the vector
    out: str | None  #: the run's folder, or None if it writes nothing
    preset: str  #: the one that was applied, or ""
    left_out: tuple[str, ...] = ()  #: names of components that the user left out
    #: Who gave each of the run's settings.
    sources: Mapping[str, Origin] = attrs.field(factory=dict)
    notes: tuple[str, ...] = ()  #: what the user should be told
    #: Settings that the file it is from could not restore, as in `RunSpec.lost_values`: a file that
    #: is written now has them again.
    lost_values: Mapping[str, Any] = attrs.field(factory=dict)
    kernel: Kernel = attrs.field(eq=False)  #: where its components came from

    def __repr__(self) -> str:
        return f"<Plan: {self.title}>"

    def __str__(self) -> str:
        return _explained(self)

    @property
    def title(self) -> str:
        """A short description: `ppo2 on CartPole-v1 x 8, policy mlp`."""
        several = f" x {self.n_envs}" if self.n_envs > 1 else ""
        return f"{self.algorithm.name} on {self.env.name}{several}, policy {self.policy.name}"

    @property
    def restores_state(self) -> bool:
        """Whether it was made from a saved plan, so that its run restores the saved state."""
        return self.algorithm.origin.rank == Rank.SAVED

    @property
    def info_keys(self) -> tuple[str, ...]:
        """The infos to store with every step, which the settings of storages name."""
        configs = [choice.config for choice in self.storages]
        return tuple(
            key for config in configs if offers(config, KeepsInfos) for key in config.info_keys
        )

    def choices(self) -> Iterator[Choice]:
        """Every component of the run."""
        for slot in ("algorithm", *SLOTS):
            yield from self._in_slot(slot)
        yield from self.optimisers.values()
        yield from self.storages[1:]
        for kind in LISTS:
            yield from getattr(self, kind)

    def _in_slot(self, slot: str) -> tuple[Choice, ...]:
        if slot == "storage":
            return self.storages[:1]
        if slot == "noise":
            return self.noises
        choice = getattr(self, slot)
        return () if choice is None else (choice,)

    def optimiser_of(self, group: str) -> Choice:
        """The optimiser of a parameter group: one of its own, or that of all groups."""
        return self.optimisers.get(group_slot(group), self.optimiser)

    def load_factories(self) -> None:
        """Import the factories of all components.

        Raises:
            BrokenPlugin: for the first component that cannot be used.
        """
        for choice in self.choices():
            choice.load()

    def hooks(self) -> Hooks:
        """A new plugin manager with all of its components that implement hooks."""
        return activated(self.choices())

    def flat_settings(self) -> dict[str, Any]:
        """Everything that was chosen, as one table for a logger or a tracker, in JSON's types.

        The keys are those of `rlk.make`: `algo`, `env`, `n_envs`, `gamma`, `policy`, `mlp.layers`.
        A function is `{"callable": its name}`. Of several components of one name the settings of
        the last one are there. A seed that was drawn is None here; it is `run.streams.seed`.
        """
        found: dict[str, Any] = {"algo": self.algorithm.name, "env": self.env.name}
        found |= {f"env.{key}": plain(value) for key, value in self.env.kwargs.items()}
        found |= plain(self.run_settings())
        plugins: list[str] = []
        for choice in self.choices():
            role = choice.role
            if role in STACKED:
                found[role] = [*found.get(role, []), choice.name]
            elif role in SLOTS or is_group_slot(role):
                found[role] = choice.name
            elif role != "algorithm":
                plugins.append(choice.name)
            values = settings.unstructure(choice.config)
            found |= {f"{choice.prefix}{key}": value for key, value in values.items()}
        return {**found, "plugins": plugins}

    def run_settings(self) -> dict[str, Any]:
        """The settings that shape the run; how much it prints is left out."""
        return {key: getattr(self, key) for key in RUN_SETTINGS if key != "verbose"}


def _explained(plan: Plan) -> str:
    """The plan as text, which `print(agent.plan)` and `rlk run --explain` show."""
    from rlk.spaces import describe  # not at the top: it needs gymnasium

    by = plan.sources.get
    lines = [
        f"environment   {plan.env.name} x {plan.n_envs}  ({by('env', 'default')})",
        f"              observation {describe(plan.observation_space)}",
        f"              action      {describe(plan.action_space)}",
    ]
    choices = list(plan.choices())
    names = max(len(choice.name) for choice in choices)
    owners = max(len(choice.owner) for choice in choices)
    for choice in choices:
        lines.append(
            f"{choice.role:<13} {choice.name:<{names}}  {choice.owner:<{owners}}  {choice.origin}"
        )
        for key, value in settings.unstructure(choice.config).items():
            who = choice.sources.get(key)
            lines.append(f"    {key} = {value!r}" + (f"   <- {who}" if who else ""))
    if len(plan.storages) > 1:
        nest = [f"{c.name} ({', '.join(c.component.stages) or 'base'})" for c in plan.storages]
        lines.append(f"storages nest {' <- '.join(nest)}")
    # Wrappers of one environment are inside those of the vector, in whatever order they came.
    inside_first = sorted(plan.wrappers, key=lambda choice: choice.component.wraps == "vector")
    wrapped = "".join(f"{choice.name}(" for choice in reversed(inside_first))
    lines.append(f"env nests     {wrapped}{plan.env.name}{')' * len(plan.wrappers)}")
    for key, value in plan.run_settings().items():
        lines.append(f"{key:<16}{value!s:<18} {by(key, 'default')}")
    return "\n".join([*lines, *(f"note: {note}" for note in plan.notes)])
