"""The plan: which component fills each slot, with which settings, and who chose it.

`resolve.py` makes a Plan, `build.py` a Run of it; nothing is built here."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import attrs

from rlk import settings
from rlk.component import Component
from rlk.planning.environment import EnvChoice
from rlk.planning.spec import LISTS, RUN_SETTINGS, SLOTS, RunSettings
from rlk.registry.hooks import Hooks, activated
from rlk.registry.kernel import Entry, Owned, singular


@attrs.frozen
class Choice(Owned):
    """A component in its place."""

    alias: str  # what it was asked for by
    slot: str  # or the kind, where there may be many
    by: str  # who chose it: `command line`, `preset zoo`, `algorithm dqn`, …
    component: Component
    config: Any = None
    sources: Mapping[str, str] = attrs.field(factory=dict)  # who set what is not its own default

    @classmethod
    def of(cls, entry: Entry, slot: str, by: str) -> Choice:
        """What an entry names, under the name of its component, of which it may be an alias."""
        component, owner = entry.component(), (entry.dist, entry.version)
        return cls(entry.kind, component.name, *owner, entry.name, slot, by, component)

    def make(self, *arguments: Any, **keywords: Any) -> Any:
        """`factory(*arguments, config, **keywords)`, without config where it has none."""
        given = (*arguments, self.config) if self.config is not None else arguments
        return self.load()(*given, **keywords)

    def load(self) -> Any:
        """Its factory; BrokenPlugin if that cannot be used."""
        return self.factory_of(self.component)


@attrs.frozen(kw_only=True)
class Plan(RunSettings):
    """All that a run will be made of, its settings included."""

    algorithm: Choice
    policy: Choice
    vec_env: Choice
    collector: Choice
    optimiser: Choice
    serializer: Choice
    storages: tuple[Choice, ...]  # the base, then decorating ones in the order of their stages
    optimisers: Mapping[str, Choice] = attrs.field(factory=dict)  # by slot, of single groups
    distribution: Choice | None = None
    noise: Choice | None = None
    wrappers: tuple[Choice, ...] = ()  # innermost first
    callbacks: tuple[Choice, ...] = ()
    loggers: tuple[Choice, ...] = ()
    extensions: tuple[Choice, ...] = ()
    env: EnvChoice
    observation_space: Any  # of one environment, wrapped
    action_space: Any
    out: str | None
    preset: str  # the one that was applied, or ""
    sources: Mapping[str, str] = attrs.field(factory=dict)  # who set what of the run's settings
    notes: tuple[str, ...] = ()  # what the user should be told

    @property
    def info_keys(self) -> tuple[str, ...]:
        """Infos to keep with every step: what storages have in their setting of that name."""
        return tuple(k for c in self.storages for k in getattr(c.config, "info_keys", ()))

    def choices(self) -> Iterator[tuple[str, Choice]]:
        """(slot, component) of everything that is in it."""
        for slot in ("algorithm", *SLOTS):
            choice = self.storages[0] if slot == "storage" else getattr(self, slot)
            if choice is not None:
                yield slot, choice
        yield from self.optimisers.items()
        yield from (("decorator", choice) for choice in self.storages[1:])
        for kind in LISTS:
            yield from ((singular(kind), choice) for choice in getattr(self, kind))

    def load_factories(self) -> None:
        """Import all that it will be made of; BrokenPlugin for what cannot be used."""
        for _, choice in self.choices():
            choice.load()

    def hooks(self) -> Hooks:
        """A new plugin manager with all of its parts that answer hooks."""
        return activated(choice for _, choice in self.choices())

    def run_settings(self) -> dict[str, Any]:
        """What shapes the run; how much it prints is not of the plan."""
        return {key: getattr(self, key) for key in RUN_SETTINGS if key != "verbose"}

    def misfits(self) -> Iterator[str]:
        """What its parts have against each other, each with what to type instead."""
        stages: dict[str, Choice] = {}
        for slot, part in self.choices():
            if misfit := self._misfit(slot, part):
                added = slot == "decorator" or part.kind in LISTS
                use = f"--plugin no:{part.name}" if added else f"another {slot}"
                yield f"{misfit[0]}.\nUse {use}, or one of: rlk plugins list {misfit[1]}"
            for stage in part.component.stages:
                other = stages.setdefault(stage, part)
                if other is not part:
                    both = f"{other.title} and {part.title} both take the sampling stage"
                    yield f"{both} {stage!r}. Ask for one of them."
        if self.env.size not in (None, self.n_envs):
            by = self.sources.get("n_envs", "default")
            yield (
                f"n_envs={self.n_envs} ({by}), but {self.env.name!r} was passed as an object and "
                f"has {self.env.size}. Say n_envs={self.env.size}, or pass what makes one."
            )

    def _misfit(self, slot: str, part: Choice) -> tuple[str, str] | None:
        """What speaks against a part, and the filter that lists what would do."""
        from rlk.spaces import describe, kind

        algorithm, record = self.algorithm.component, part.component
        who, own, actions = self.algorithm.title, part.title, record.action_spaces
        action, seen = type(self.action_space).__name__, kind(self.observation_space)
        if missing := [need for need in record.needs if need not in algorithm.reports]:
            needs = f"{own} needs {', '.join(missing)} after every update"
            return f"{needs}, but {who} does not report it", f"--reports {missing[0]}"
        # Wrappers make the plan's spaces; a noise goes with the algorithm.
        served = action in (algorithm.action_spaces or (action,))
        if slot == "wrapper" or (slot == "noise" and not served):
            return None
        if actions and action not in actions:
            serves = f"{own} serves action spaces {', '.join(actions)}"
            found = f"but the environment's is {describe(self.action_space)}"
            return f"{serves}, {found}", f"--action-space {action}"
        if record.observation_spaces and seen not in record.observation_spaces:
            takes = f"{own} takes observations that are {', '.join(record.observation_spaces)}"
            found = f"but the environment's are {describe(self.observation_space)}"
            return f"{takes}, {found}", f"--observation-space {seen}"
        if len({algorithm.collects, record.collects} - {None, "both"}) == 2:
            is_for = f"{own} is for {record.collects} algorithms, but {who} is"
            return f"{is_for} {algorithm.collects}", f"--collects {algorithm.collects}"
        if slot == "decorator" and algorithm.collects == "on-policy":
            decorates = f"{own} decorates a replay storage, but {who} is on-policy and keeps none"
            return decorates, "--collects off-policy"
        if slot == "policy" and record.recurrent and not algorithm.recurrent:
            return f"{who} cannot train recurrent policies as {own}", "--recurrent"
        return None

    def as_json(self) -> dict[str, Any]:
        """What `plan.json` and every checkpoint hold: enough to make the run again."""
        from rlk.spaces import describe

        return {
            "env": {
                "name": self.env.name,
                "kwargs": settings.plain(self.env.kwargs),
                "source": self.env.source,
                "passed_as_object": not self.env.source,
                "observation_space": describe(self.observation_space),
                "action_space": describe(self.action_space),
            },
            "run": {**self.run_settings(), "preset": self.preset},
            "set_by": dict(self.sources),
            "components": [
                {key: getattr(choice, key) for key in ("kind", "name", "dist", "version")}
                | {"chosen_by": choice.by, "settings": settings.unstructure(choice.config)}
                | {"set_by": dict(choice.sources), "slot": slot}
                for slot, choice in self.choices()
            ],
        }
