"""From a RunSpec to a Plan: which component fills each slot, with which settings, if all fits.

Planning is functions over frozen values: `gather` collects settings from all sources, `select`
picks the components, `with_forwarded` settles the settings that have several keys, `configured`
gives each component its settings, and `conflicts` says what does not fit.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import attrs

from rlk import settings
from rlk.component import STAGES
from rlk.errors import SHOWN, PlanError, nearest
from rlk.planning.choice import Choice
from rlk.planning.configure import configured, naming_origins
from rlk.planning.conflicts import conflicts
from rlk.planning.connect import connect
from rlk.planning.draft import Draft
from rlk.planning.environment import EnvChoice, choose_environment
from rlk.planning.forwarding import with_forwarded
from rlk.planning.gather import gather
from rlk.planning.layers import Origin, Rank
from rlk.planning.plan import Plan
from rlk.planning.probe import in_vector_wrappers, probe
from rlk.planning.recipes import expanded
from rlk.planning.refused_settings import (
    refuse_misplaced_settings,
    refuse_settings_of_others,
    without_effect,
)
from rlk.planning.remarks import remarks
from rlk.planning.run_settings import RUN_SETTINGS, RunSettings
from rlk.planning.select import filling, select
from rlk.planning.spec import ENV_PREFIX, RunSpec, with_key
from rlk.planning.words_of_others import refuse_words_of_others
from rlk.registry.kinds import LISTS, is_group_slot, option_of

if TYPE_CHECKING:
    from rlk.registry.kernel import Kernel

#: The components of a run, by slot, or by kind if they fill none.
BySlot = Mapping[str, tuple[Choice, ...]]
#: Slots that no run can do without.
REQUIRED = ("policy", "vec_env", "storage", "collector", "optimiser", "serializer")


def resolve(kernel: Kernel, spec: RunSpec, *, terminal: bool = False) -> Plan:
    """The plan for a spec.

    Args:
        kernel: where components come from.
        spec: the request.
        terminal: whether it runs on a terminal, where more components join if the run prints.

    Raises:
        PlanError: for anything that does not exist or does not fit.
    """
    connect(spec, kernel.registries)
    if not spec.algo:
        raise _no_algorithm(kernel, spec)
    spec = expanded(spec, kernel.registries)
    draft = gather(kernel, spec, moments=_moments(spec, terminal))
    chosen = select(draft)
    refuse_words_of_others(draft, chosen)
    refuse_settings_of_others(draft.layers, chosen)
    env = _environment(draft)
    draft = _with_derived_settings(draft, chosen, env)
    by_slot = _by_slot(draft, (configured(choice, draft.layers) for choice in chosen))
    refuse_misplaced_settings(draft, by_slot)
    _check_filled(by_slot, draft)
    plan = _accepted(_plan(kernel, spec, draft, by_slot, env), draft)
    return attrs.evolve(plan, notes=(*plan.notes, *remarks(plan, draft)))


def _no_algorithm(kernel: Kernel, spec: RunSpec) -> PlanError:
    """The error for a spec that names no algorithm, maybe because it misspells `algo`."""
    names = kernel.registries.algorithms.names()
    more = ", … (rlk plugins list --kind algorithms)" if len(names) > SHOWN else ""
    shown = ", ".join(names[:SHOWN]) or "none"
    what = "no algorithm. Use --algo NAME; installed:"
    for key, setting in spec.settings():
        if key != "algo" and nearest(key, ["algo"]):
            found = f"no algorithm, but the setting {key!r} ({setting.origin})"
            what = f"{found}. Did you mean 'algo'? Installed:"
    return PlanError(f"{what} {shown}{more}.")


def _moments(spec: RunSpec, terminal: bool) -> tuple[str, ...]:
    """The values of `Component.autostart` with which components join this run."""
    prints = bool(spec.given.get("verbose"))
    moments = {
        "always": True,
        "run": spec.given.get("out") is not None,
        "verbose": prints,
        "terminal": prints and terminal,
    }
    return tuple(moment for moment, is_now in moments.items() if is_now)


def _environment(draft: Draft) -> EnvChoice:
    """The environment with its keywords; PlanError if it does not exist or none is named."""
    asked = draft.layers.find("env").value
    if asked is None:
        name = draft.algorithm.name
        raise PlanError(f"no environment: algorithm {name!r} names no default. Use --env NAME.")
    kwargs: dict[str, Any] = {}
    demands = []
    for key, setting in draft.layers:
        if key.startswith(ENV_PREFIX):
            kwargs = with_key(kwargs, key.removeprefix(ENV_PREFIX), setting.value)
            demands += [key] if setting.is_demand else []
    env = choose_environment(asked, draft.registries, kwargs)
    if demands and env.is_finished:
        raise PlanError(
            f"environment {env.name!r} was passed as an object, which is made already: "
            f"{', '.join(demands)} would have no effect. Pass what makes it (an id, a class, a "
            "function), or leave them out."
        )
    return env


def _with_derived_settings(draft: Draft, chosen: Iterable[Choice], env: EnvChoice) -> Draft:
    """With the settings that follow from the environment that was passed and from others."""
    layers = draft.layers
    # Where a user demands another number, `conflicts` refuses it.
    if env.is_finished and not layers.find("n_envs").is_demand:
        origin = Origin("the environment passed", Rank.DERIVED)
        layers = layers.with_setting("n_envs", env.size, origin)
    return attrs.evolve(draft, layers=with_forwarded(layers, draft.algorithm, chosen))


def _by_slot(draft: Draft, choices: Iterable[Choice]) -> dict[str, tuple[Choice, ...]]:
    """The components of every slot and list, storages in the order of their sampling stages."""
    by_slot: dict[str, list[Choice]] = {
        key: [] for key in ("algorithm", *draft.layers.slots, *LISTS)
    }
    for choice in choices:
        by_slot[choice.slot or choice.kind].append(choice)
    by_slot["storage"].sort(key=_first_stage)
    return {key: tuple(found) for key, found in by_slot.items()}


def _first_stage(storage: Choice) -> int:
    """The place of a storage in the stack: the base first, decorators by their first stage."""
    return min((STAGES.index(stage) for stage in storage.component.stages), default=-1)


def _check_filled(by_slot: BySlot, draft: Draft) -> None:
    """PlanError for an empty slot that must be filled; a decorator alone is not a storage."""
    for slot in REQUIRED:
        if not by_slot[slot] or by_slot[slot][0].component.stages:
            raise _nothing_fills(slot, draft.layers.find(slot).value, draft)


def _nothing_fills(slot: str, asked: Any, draft: Draft) -> PlanError:
    """The error for an empty slot: only a `no:NAME` takes out of it what was asked for."""
    why = f"{draft.algorithm.alias} names no default for it"
    if asked is not None:
        why = f"{asked!r} was left out by no:{asked}"
    return PlanError(f"nothing fills the slot {slot!r}: {why}. Use {option_of(slot)} NAME.")


def _distribution(draft: Draft, action_space: str) -> Choice | None:
    """The distribution for a class of action spaces; None if the algorithm draws from none.

    Raises:
        PlanError: if the one that was asked for is left out.
    """
    found = filling(draft, "distribution", action_space)
    asked: Any = draft.layers.find("distribution").value
    asked = asked.get(action_space) if isinstance(asked, Mapping) else asked
    if not found and asked is not None:
        raise _nothing_fills("distribution", asked, draft)
    return configured(found[0], draft.layers) if found else None


def _plan(kernel: Kernel, spec: RunSpec, draft: Draft, by_slot: BySlot, env: EnvChoice) -> Plan:
    """The plan of these components, with the spaces of the environment."""
    backend = by_slot["vec_env"][0]
    inside = probe(env, by_slot["wrappers"], backend, draft.registries)
    observation_space, action_space = in_vector_wrappers(env.name, inside, by_slot["wrappers"])
    own = {key: draft.layers.find(key) for key in ("env", *RUN_SETTINGS)}
    own = {key: setting for key, setting in own.items() if setting.is_set}
    values = {key: own[key].value for key in own if key != "env"}
    sources = {key: setting.origin for key, setting in own.items()}
    with naming_origins(sources):
        run_settings = settings.structure(RunSettings, values, "a run")
    return Plan(
        **attrs.asdict(run_settings),
        algorithm=by_slot["algorithm"][0],
        policy=by_slot["policy"][0],
        vec_env=backend,
        collector=by_slot["collector"][0],
        optimiser=by_slot["optimiser"][0],
        serializer=by_slot["serializer"][0],
        storages=by_slot["storage"],
        optimisers={
            slot: by_slot[slot][0] for slot in by_slot if is_group_slot(slot) and by_slot[slot]
        },
        wrappers=by_slot["wrappers"],
        callbacks=by_slot["callbacks"],
        loggers=by_slot["loggers"],
        extensions=by_slot["extensions"],
        distribution=_distribution(draft, type(action_space).__name__),
        noises=by_slot["noise"],
        env=env,
        observation_space=observation_space,
        action_space=action_space,
        spaces_inside=inside,
        out=spec.given.get("out") or None,
        preset=draft.preset,
        left_out=draft.left_out,
        sources=sources,
        notes=draft.notes,
        lost_values=spec.lost_values,
        kernel=kernel,
    )


def _accepted(plan: Plan, draft: Draft) -> Plan:
    """The plan for this process; PlanError with every problem that forbids it.

    Settings without effect are reported only if everything else fits, and plugins are asked only
    if the kernel has found no problem.
    """
    hooks = plan.hooks()
    space = hooks.only("rlk_policy_space", plan=plan)
    if space is not None:
        plan = attrs.evolve(plan, policy_space=space)
    problems: list[str] = (
        list(conflicts(plan))
        or list(without_effect(plan, draft))
        or hooks.all("rlk_check_plan", plan=plan)
    )
    if problems:
        raise PlanError("\n".join(problems))
    settled: Plan | None = hooks.only("rlk_settle_plan", plan=plan)
    return settled or plan
