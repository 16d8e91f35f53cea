"""The plan: which component fills each slot, with which settings, and who chose it.

`resolve.py` makes a Plan, `build.py` a Run of it; nothing is built here."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import attrs

from rlk import settings
from rlk.component import Component
from rlk.environment import EnvChoice
from rlk.registry import singular
from rlk.spec import LISTS, RUN_KEYS, SLOTS, RunSettings


@attrs.frozen
class Choice:
    """A component in its place."""

    kind: str
    name: str
    dist: str
    version: str
    by: str  # who chose it: `command line`, `preset zoo`, `algorithm dqn`, …
    component: Component
    config: Any = None
    sources: Mapping[str, str] = attrs.field(factory=dict)  # who set what is not its own default

    @property
    def owner(self) -> str:
        return f"{self.dist} {self.version}".strip()

    @property
    def title(self) -> str:
        """`storage 'replay' (rlk-replay 0.1.0)`, as messages call it."""
        return f"{singular(self.kind)} {self.name!r} ({self.owner})"

    def make(self, *arguments: Any, **keywords: Any) -> Any:
        """`factory(*arguments, config, **keywords)`, without config where it has none."""
        given = (*arguments, self.config) if self.config is not None else arguments
        return self.component.load()(*given, **keywords)


@attrs.frozen(kw_only=True)
class Plan(RunSettings):
    """All that a run will be made of, its settings included."""

    algorithm: Choice
    policy: Choice
    vec_env: Choice
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
    objects: Mapping[str, Any] = attrs.field(factory=dict)  # plugins passed as objects, by name
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

    def run_settings(self) -> dict[str, Any]:
        """What shapes the run; how much it prints is not of the plan."""
        return {key: getattr(self, key) for key in RUN_KEYS if key not in ("env", "verbose")}

    def misfits(self) -> Iterator[str]:
        """What its parts have against each other, each with what to type instead."""
        from rlk.spaces import describe, kind

        algorithm, who = self.algorithm.component, self.algorithm.title
        action, observation = type(self.action_space).__name__, kind(self.observation_space)
        served = action in (algorithm.action_spaces or (action,))
        stages: dict[str, Choice] = {}
        for slot, part in self.choices():
            record, added = part.component, slot == "decorator" or part.kind in LISTS
            use = f"--plugin no:{part.name}" if added else f"another {slot}"
            listed = f"Use {use}, or one of: rlk plugins list"
            missing = [need for need in record.needs if need not in algorithm.reports]
            if missing:
                yield (
                    f"{part.title} needs {', '.join(missing)} after every update, but {who} does "
                    f"not report it.\n{listed} --reports {missing[0]}"
                )
            elif slot == "wrapper" or (slot == "noise" and not served):
                continue  # wrappers make the plan's spaces; a noise goes with the algorithm
            elif record.action_spaces and action not in record.action_spaces:
                spaces, found = ", ".join(record.action_spaces), describe(self.action_space)
                yield (
                    f"{part.title} serves action spaces {spaces}, but the environment's is "
                    f"{found}. {listed} --action-space {action}"
                )
            elif record.observation_spaces and observation not in record.observation_spaces:
                spaces, found = ", ".join(record.observation_spaces), self.observation_space
                yield (
                    f"{part.title} takes observations that are {spaces}, but the environment's are "
                    f"{describe(found)}. {listed} --observation-space {observation}"
                )
            elif len({algorithm.collects, record.collects} - {None, "both"}) == 2:
                yield (
                    f"{part.title} is for {record.collects} algorithms, but {who} is "
                    f"{algorithm.collects}. {listed} --collects {algorithm.collects}"
                )
            elif slot == "decorator" and algorithm.collects == "on-policy":
                yield (
                    f"{part.title} decorates a replay storage, but {who} is on-policy and keeps "
                    f"none. {listed} --collects off-policy"
                )
            elif slot == "policy" and record.recurrent and not algorithm.recurrent:
                yield (
                    f"{who} cannot train recurrent policies as {part.title}. {listed} --recurrent"
                )
            for stage in record.stages:
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
            "passed_as_objects": sorted(self.objects),
        }

    def explain(self) -> str:
        """As text: what fills each slot, whose it is, who chose it, and how it nests."""
        from rlk.spaces import describe

        by = self.sources.get
        lines = [
            f"environment   {self.env.name} x {self.n_envs}  ({by('env', 'default')})",
            f"              observation {describe(self.observation_space)}",
            f"              action      {describe(self.action_space)}",
        ]
        for slot, choice in self.choices():
            lines.append(f"{slot:<13} {choice.name:<20} {choice.owner:<32} {choice.by}")
            for key, value in settings.unstructure(choice.config).items():
                who = choice.sources.get(key)
                lines.append(f"    {key} = {value!r}" + (f"   <- {who}" if who else ""))
        lines += [f"{'object':<13} {name:<53} passed to rlk.make" for name in self.objects]
        if len(self.storages) > 1:
            nest = [f"{c.name} ({', '.join(c.component.stages) or 'base'})" for c in self.storages]
            lines.append(f"storages nest {' <- '.join(nest)}")
        wrapped = "".join(f"{choice.name}(" for choice in reversed(self.wrappers))
        lines.append(f"env nests     {wrapped}{self.env.name}{')' * len(self.wrappers)}")
        for key, value in self.run_settings().items():
            lines.append(f"{key:<16}{value!s:<18} {by(key, 'default')}")
        return "\n".join([*lines, *(f"note: {note}" for note in self.notes)])
