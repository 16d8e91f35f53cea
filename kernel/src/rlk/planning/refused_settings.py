"""Settings that would change nothing in a run: they are refused, not ignored."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import attrs

from rlk import settings
from rlk.errors import PlanError, UnknownName, nearest
from rlk.planning.choice import Choice
from rlk.planning.configure import WITH_SEVERAL
from rlk.planning.draft import Draft
from rlk.planning.forwarding import takers
from rlk.planning.layers import Rank, Setting, SettingLayers
from rlk.planning.plan import Plan
from rlk.registry.kinds import SLOTS, STACKED, option_of, singular, slot_of


def refuse_settings_of_others(layers: SettingLayers, chosen: Iterable[Choice]) -> None:
    """UnknownName for the first setting of the algorithm that it lacks and another component has.

    Args:
        layers: all settings; one without a component's name is the algorithm's.
        chosen: the components of the run, the algorithm first.
    """
    algorithm, *others = chosen
    own = settings.names(algorithm.component.config)
    for key, _ in layers:
        owner, _, name = key.partition(".")
        if owner == algorithm.name and name not in own:
            having = [one.name for one in others if name in settings.names(one.component.config)]
            if having:
                theirs = [f"{other}.{name}" for other in dict.fromkeys(having)]
                meant = [*theirs, *nearest(name, own)]
                raise UnknownName(f"setting of {algorithm.title}:", name, (), meant=meant)


def refuse_misplaced_settings(draft: Draft, by_slot: Mapping[str, Sequence[Choice]]) -> None:
    """PlanError for the first setting whose component is not in the run or does not have it.

    Settings by a component's own name were checked when the component was configured.

    Args:
        draft: all settings, and the components that were left out.
        by_slot: the components of the run by slot, or by kind if they fill none.
    """
    choices = [choice for several in by_slot.values() for choice in several]
    names = [name for choice in choices for name in (choice.name, choice.alias)]
    in_run = {"env", *draft.layers.slots, *names, *_distributions(draft.layers)}
    for key, setting in draft.layers:
        owner, dot, own = key.partition(".")
        if not dot:
            continue  # it names the component of a slot, or is the run's own
        if owner not in in_run and not _may_be_absent(owner, setting, draft):
            raise _absent(owner, key, setting, draft, in_run)
        # A proposal for the noises may be for a noise that has been replaced.
        if owner == "storage" or (owner in WITH_SEVERAL and setting.is_demand):
            _refuse_untaken(owner, own, by_slot[owner])


def without_effect(plan: Plan, draft: Draft) -> Iterator[str]:
    """Everything in a plan that would have no effect, as messages."""
    yield from _unused_distribution(plan)
    yield from _settings_of_absent_plugins(plan, draft)


def _may_be_absent(owner: str, setting: Setting, draft: Draft) -> bool:
    """Whether the component of a setting may be missing from the run."""
    of_the_algorithm = setting.rank == Rank.ALGORITHM
    of_one_left_out = owner in (*draft.left_out, *draft.gone) and not setting.is_demand
    return of_the_algorithm or of_one_left_out or _is_replaced(owner, setting, draft)


def _is_replaced(owner: str, setting: Setting, draft: Draft) -> bool:
    """Whether another component was chosen for the owner's slot, with a rank above this."""
    for slot, kind in SLOTS.items():
        registry = draft.registries[kind]
        if owner in registry and draft.layers.find(slot).rank > setting.rank:
            # A decorator is not in the place of what fills the slot.
            return not registry.get(owner).component().stages
    return False


def _absent(
    owner: str, key: str, setting: Setting, draft: Draft, in_run: Iterable[str]
) -> PlanError:
    """The error for a setting of a component that is not in the run."""
    about = f"In the setting {key!r} ({setting.origin})."
    if owner in draft.left_out:
        return PlanError(f"{owner!r} was left out by no:{owner}. {about} Leave out one of them.")
    if owner in draft.registries:
        typed = _option_for(owner, draft)
        return PlanError(f"{owner!r} is not in this run. {about} Add {typed}")
    return UnknownName("component in this run", owner, in_run, about)


def _refuse_untaken(slot: str, asked: str, sharing: Iterable[Choice]) -> None:
    """UnknownName for a setting that none of the components of a slot has."""
    configs = (choice.component.config for choice in sharing)
    taken = {name for config in configs for name in settings.names(config)}
    if asked not in taken:
        raise UnknownName("setting", asked, taken, where=f"this run's {SLOTS[slot]}")


def _distributions(layers: SettingLayers) -> set[str]:
    """Every distribution that the run may use; which one it is depends on the action space."""
    wanted: Any = layers.find("distribution").value
    names = wanted.values() if isinstance(wanted, Mapping) else [wanted]
    return {str(name) for name in names if name is not None}


def _unused_distribution(plan: Plan) -> Iterator[str]:
    """A distribution for an algorithm without a default one: it does not use a distribution."""
    algorithm, chosen = plan.algorithm, plan.distribution
    if chosen is not None and "distribution" not in algorithm.component.defaults:
        yield (
            f"{chosen.title} would have no effect: {algorithm.title} draws its actions from no "
            "distribution. Leave it out."
        )


def _settings_of_absent_plugins(plan: Plan, draft: Draft) -> Iterator[str]:
    """A user's settings of the algorithm that are forwarded to plugins not in the run."""
    component = plan.algorithm.component
    in_run = list(plan.choices())
    config: Any = component.config
    for key in component.forwards:
        targets = [target for own, target in component.forwarded() if own == key]
        if key in component.activates or any(takers(target, in_run) for target in targets):
            continue
        setting, default = draft.layers.find(key), attrs.fields_dict(config)[key].default
        # A file has every setting of the run that it was saved from, not only those asked for.
        if setting.rank == Rank.USER and setting.value != default:
            asked = f"{plan.algorithm.title}: {key}={setting.value!r}"
            yield f"{asked} {_no_taker(targets[0], plan, draft)}, or leave {key} out."


def _no_taker(target: str, plan: Plan, draft: Draft) -> str:
    """Why a forwarded setting would have no effect, and what to type so that it has one."""
    owner, _, setting = target.partition(".")
    if owner not in SLOTS:
        why = f"is for {owner!r}, which is not in this run"
        return f"{why}, and would have no effect. Use {_how_to_add(owner, plan, draft)}"
    kind = singular(SLOTS[owner])
    return (
        f"is for a {kind} with the setting {setting!r}, which none of this run has, and would have "
        f"no effect. Use another {kind}"
    )


def _how_to_add(plugin: str, plan: Plan, draft: Draft) -> str:
    """What to type for a plugin: the algorithm's switch for it, if there is one."""
    for key, activated in plan.algorithm.component.activates.items():
        if activated == plugin:
            return f"--set {key}=true"
    return _option_for(plugin, draft)


def _option_for(name: str, draft: Draft) -> str:
    """`--plugin NAME`, or `--slot NAME` if the user has given its slot to another one.

    The name is of an installed component.
    """
    entry = draft.registries.find(name)
    slot = slot_of(entry.kind)
    if not slot or slot in STACKED or entry.component().stages:
        return f"--plugin {name}"
    setting = draft.layers.find(slot)
    if not setting.is_demand:
        return f"--plugin {name}"
    return f"{option_of(slot)} {name} instead of {setting.value!r:.80}"
