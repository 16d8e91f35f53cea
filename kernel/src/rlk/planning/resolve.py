"""From a RunSpec to a Plan: who fills each slot, with which settings, and whether it fits."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import attrs

from rlk import settings
from rlk.component import STAGES
from rlk.errors import PlanError, UnknownName
from rlk.planning.environment import EnvChoice, choose_environment, probe
from rlk.planning.layers import FILE, FORWARDED, Wishes
from rlk.planning.plan import Choice, Plan
from rlk.planning.spec import LISTS, RUN_SETTINGS, RunSettings, RunSpec, is_group_slot

if TYPE_CHECKING:
    from rlk.registry.kernel import Kernel


def resolve(
    kernel: Kernel, spec: RunSpec, *, terminal: bool = False, autostart: bool = True
) -> Plan:
    """The plan for a spec, or a PlanError for whatever does not exist or does not fit. Without
    `autostart` nothing joins unasked; where a person watches a `terminal`, more does."""
    if not spec.algo:
        names = ", ".join(kernel.registries.algorithms.names()) or "none"
        raise PlanError(f"no algorithm. Say --algo NAME; installed: {names}.")
    wishes = Wishes(kernel, spec)
    wishes.collect(terminal, autostart and spec.said.get("out") is not None)
    active = wishes.active()
    env = _environment(wishes)
    wishes.forward(active)
    made: dict[str, list[Choice]] = {p: [] for p in ("algorithm", *wishes.slots, *LISTS)}
    for choice in (wishes.algorithm, *active):
        made[choice.slot].append(wishes.configured(choice))
    made["storage"].sort(key=lambda one: min(map(STAGES.index, one.component.stages), default=-1))
    _check_keys(wishes, made)
    for slot in ("policy", "vec_env", "storage", "collector", "optimiser", "serializer"):
        if not made[slot] or made[slot][0].component.stages:
            lacks = f"nothing fills the slot {slot!r}: {spec.algo} names no default for it"
            raise PlanError(f"{lacks}. Say --{slot.replace('_', '-')} NAME.")
    observation_space, action_space = probe(env, made["wrappers"])
    for choice in wishes.filling("distribution", type(action_space).__name__):
        made["distribution"].append(wishes.configured(choice))
    parts: dict[str, Any] = {kind: tuple(made.pop(kind)) for kind in LISTS}
    parts["storages"] = tuple(made.pop("storage"))
    groups = [(slot, made.pop(slot)) for slot in wishes.slots if is_group_slot(slot)]
    parts["optimisers"] = {slot: choice for slot, choices in groups for choice in choices}
    parts |= {slot: choices[0] if choices else None for slot, choices in made.items()}
    said = {key: found for key in ("env", *RUN_SETTINGS) if (found := wishes.find(key)).by}
    run = {key: found.value for key, found in said.items() if key != "env"}
    plan = Plan(
        **attrs.asdict(settings.structure(RunSettings, run, "a run")),
        **parts,
        env=env,
        observation_space=observation_space,
        action_space=action_space,
        out=spec.said.get("out") or None,
        preset=wishes.preset,
        sources={key: found.by for key, found in said.items()},
        notes=tuple(wishes.notes),
    )
    hooks = plan.hooks()
    problems = list(plan.misfits()) or hooks.all("rlk_check_plan", plan=plan)
    if problems:
        raise PlanError("\n".join(map(str, problems)))
    return hooks.first("rlk_settle_plan", plan=plan) or plan


def _environment(wishes: Wishes) -> EnvChoice:
    asked, registries = wishes.find("env").value, wishes.kernel.registries
    if asked is None:
        name = wishes.algorithm.name
        raise PlanError(f"no environment: algorithm {name!r} names no default. Say --env NAME.")
    kwargs = {key[4:]: said.value for key, said in wishes if key.startswith("env.")}
    env = choose_environment(asked, registries, kwargs)
    if env.size is not None and wishes.find("n_envs").rank < FILE:
        wishes.say({"n_envs": env.size}, "the environment passed", FORWARDED)
    return env


def _check_keys(wishes: Wishes, made: Mapping[str, list[Choice]]) -> None:
    """Every setting belongs to a component in this run; its own were looked at with it."""
    stored = {
        name for choice in made["storage"] for name in settings.names(choice.component.config)
    }
    wanted = wishes.find("distribution").value
    distributions = wanted.values() if isinstance(wanted, Mapping) else [wanted]
    names = [name for one in made.values() for c in one for name in (c.name, c.alias)]
    known = {"env", *wishes.slots, *names, *filter(None, map(str, distributions))}
    for key, said in wishes:
        head, dot, setting = key.partition(".")
        if dot and head not in known:
            hint = f"In the setting {key!r} ({said.by})."
            raise UnknownName("component in this run", head, known, hint)
        if dot and head == "storage" and setting not in stored:
            raise UnknownName("setting of this run's storages:", setting, stored)
