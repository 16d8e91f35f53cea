"""The plan: which component fills each slot, with which settings, and who chose it.

Nothing is built here.

Precedence, weakest first: component's defaults, algorithm's defaults, preset, a plugin's Patch,
SPEC.toml, command line or keyword. `resolve.py` makes a Plan; `build.py` makes a Run of it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import attrs

from rlk import settings
from rlk.component import Component
from rlk.environment import EnvChoice
from rlk.errors import PlanError
from rlk.layers import Said
from rlk.registry import Entry, singular


@attrs.frozen(kw_only=True)
class Choice:
    """A component in its place.

    Attributes:
        kind, name: which one. dist, version: whose it is.
        by: who chose it (`command line`, `preset dqn/CartPole-v1`, `algorithm dqn`, …).
        component: the record.
        config: an instance of its config class, or None.
        sources: setting -> who set it, for those that are not the component's own default.
    """

    kind: str
    name: str
    dist: str
    version: str
    by: str
    component: Component
    config: Any = None
    sources: Mapping[str, str] = attrs.field(factory=dict)

    @property
    def title(self) -> str:
        """`storage 'replay' (rlk-replay 0.1.0)`, as messages call it."""
        return f"{singular(self.kind)} {self.name!r} ({self.dist} {self.version}".rstrip() + ")"

    def make(self, *arguments: Any, **keywords: Any) -> Any:
        """An instance.

        `factory(*arguments, config, **keywords)`, without config where it has none.
        """
        given = (*arguments, self.config) if self.config is not None else arguments
        return self.component.load()(*given, **keywords)

    def as_json(self) -> dict[str, Any]:
        return {
            "kind": self.kind,
            "name": self.name,
            "dist": self.dist,
            "version": self.version,
            "chosen_by": self.by,
            "settings": settings.unstructure(self.config),
            "set_by": dict(self.sources),
        }


def choose(entry: Entry, by: str, given: Mapping[str, Said]) -> Choice:
    """A component in its place, with settings (and who said each) as its config.

    Raises:
        PlanError: if it has no such setting, or the value does not do.
    """
    component = entry.component()
    config = None
    if component.config is not None:
        values = dict(component.own) | {key: value for key, (value, _) in given.items()}
        config = settings.structure(component.config, values, entry.title())
    elif given:
        raise PlanError(f"{entry.title()} has no settings, got {', '.join(sorted(given))}.")
    return Choice(
        kind=entry.kind,
        name=component.name,
        dist=entry.dist,
        version=entry.version,
        by=by,
        component=component,
        config=config,
        sources={key: source for key, (_, source) in given.items()},
    )


@attrs.frozen(kw_only=True)
class Plan:
    """All that a run will be made of.

    Attributes:
        algorithm, policy, distribution, noise, vec_env, optimiser, serializer: one component each,
            or None.
        storages: the base first, then decorating ones in the order of their stages.
        wrappers: innermost first.
        callbacks, loggers, extensions: all that are active.
        objects: plugins that were passed as objects, by name.
        env: the environment; observation_space and action_space are those of one, wrapped.
        run: `n_envs`, `total_timesteps`, `seed`, `device`, … as settled.
        sources: who set those. preset: the one applied, or "". notes: what the user should be told.
    """

    algorithm: Choice
    policy: Choice
    vec_env: Choice
    optimiser: Choice
    serializer: Choice
    storages: tuple[Choice, ...]
    distribution: Choice | None = None
    noise: Choice | None = None
    wrappers: tuple[Choice, ...] = ()
    callbacks: tuple[Choice, ...] = ()
    loggers: tuple[Choice, ...] = ()
    extensions: tuple[Choice, ...] = ()
    objects: Mapping[str, Any] = attrs.field(factory=dict)
    env: EnvChoice
    observation_space: Any
    action_space: Any
    n_envs: int
    total_timesteps: int
    seed: int | None
    device: str
    n_threads: int | None
    log_interval: int
    verbose: int
    out: str | None
    preset: str
    sources: Mapping[str, str] = attrs.field(factory=dict)
    notes: tuple[str, ...] = ()

    @property
    def info_keys(self) -> tuple[str, ...]:
        """Infos to keep with every step: what storages have in their setting of that name."""
        return tuple(k for c in self.storages for k in getattr(c.config, "info_keys", ()))

    def choices(self) -> Iterator[tuple[str, Choice]]:
        """(slot, component) of everything that is in it."""
        for slot in (
            "algorithm",
            "policy",
            "distribution",
            "noise",
            "vec_env",
            "optimiser",
            "serializer",
        ):
            if getattr(self, slot) is not None:
                yield slot, getattr(self, slot)
        yield "storage", self.storages[0]
        yield from (("decorator", choice) for choice in self.storages[1:])
        for slot in ("wrappers", "callbacks", "loggers", "extensions"):
            yield from ((singular(slot), choice) for choice in getattr(self, slot))

    def as_json(self) -> dict[str, Any]:
        """What `plan.json` and every checkpoint hold: enough to make the run again."""
        from rlk import spaces

        return {
            "env": {
                "name": self.env.name,
                "kwargs": settings.plain(dict(self.env.kwargs)),
                "modules": list(self.env.modules),
                "passed_as_object": self.env.made is not None,
                "observation_space": spaces.describe(self.observation_space),
                "action_space": spaces.describe(self.action_space),
            },
            "run": {
                "n_envs": self.n_envs,
                "total_timesteps": self.total_timesteps,
                "seed": self.seed,
                "device": self.device,
                "n_threads": self.n_threads,
                "log_interval": self.log_interval,
                "preset": self.preset,
            },
            "set_by": dict(self.sources),
            "components": [choice.as_json() | {"slot": slot} for slot, choice in self.choices()],
            "passed_as_objects": sorted(self.objects),
        }

    def explain(self) -> str:
        """The plan as text.

        Each slot, what fills it, from which distribution, who chose it, and how.
        """
        from rlk import spaces

        lines = [
            f"environment   {self.env.name} x {self.n_envs}  ({self.sources.get('env', 'default')})"
        ]
        lines.append(f"              observation {spaces.describe(self.observation_space)}")
        lines.append(f"              action      {spaces.describe(self.action_space)}")
        for slot, choice in self.choices():
            whose = f"{choice.dist} {choice.version}".strip()
            lines.append(f"{slot:<13} {choice.name:<20} {whose:<32} {choice.by}")
            for key, value in settings.unstructure(choice.config).items():
                who = choice.sources.get(key)
                lines.append(f"    {key} = {value!r}" + (f"   <- {who}" if who else ""))
        for name in self.objects:
            lines.append(f"{'object':<13} {name:<20} {'':<32} passed to rlk.make")
        if len(self.storages) > 1:
            nest = " <- ".join(
                f"{c.name} ({', '.join(c.component.stages) or 'base'})" for c in self.storages
            )
            lines.append(f"storages nest {nest}")
        wrapped = "".join(f"{c.name}(" for c in reversed(self.wrappers))
        lines.append(f"env nests     {wrapped}{self.env.name}{')' * len(self.wrappers)}")
        for key in ("n_envs", "total_timesteps", "seed", "device", "n_threads", "log_interval"):
            lines.append(f"{key:<16}{getattr(self, key)!s:<18} {self.sources.get(key, 'default')}")
        lines += [f"note: {note}" for note in self.notes]
        return "\n".join(lines)
