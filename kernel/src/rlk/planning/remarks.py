"""Notes on a valid plan: where it may differ from what the user expects."""

from __future__ import annotations

from collections.abc import Iterator

from rlk import settings
from rlk.errors import SHOWN, BrokenPlugin
from rlk.planning.draft import Draft
from rlk.planning.layers import Rank, listed
from rlk.planning.plan import Plan


def remarks(plan: Plan, draft: Draft) -> Iterator[str]:
    """Notes for the user on a plan, a sentence each."""
    yield from _replaced_noise(plan, draft)
    yield from _step_size_of_another(plan, draft)
    yield from _images(plan, draft)
    yield from _untaken_settings_of_a_preset(plan, draft)


def _replaced_noise(plan: Plan, draft: Draft) -> Iterator[str]:
    """Chosen noises, or a demand for none, replace those of the algorithm or a preset."""
    setting = draft.layers.find("noise")
    is_emptied = setting.is_set and not listed(setting.value)
    if not plan.noises and not is_emptied:
        return
    now = {name for noise in plan.noises for name in (noise.name, noise.alias)}
    chosen = " and ".join(repr(noise.name) for noise in plan.noises)
    for rank in (rank for rank in Rank if rank < setting.rank):
        wished = draft.layers.at(rank, "noise")
        for name in (name for name in listed(wished.value) if name not in now):
            by = "default" if rank == Rank.ALGORITHM else wished.origin
            which = f"{name!r}, with which {plan.algorithm.name} explores by {by}"
            if is_emptied:
                yield f"no noise ({setting.origin}) takes the place of {which}"
            else:
                yield (
                    f"noise {chosen} takes the place of {which}: to have both, use "
                    f"--plugin {name} as well"
                )


def _step_size_of_another(plan: Plan, draft: Draft) -> Iterator[str]:
    """A chosen optimiser with a learning rate that nobody chose for it.

    Of a natural gradient's step the rate is a fraction (0.25), of Adam's the size (0.0007).
    """
    layers, rate = draft.layers, getattr(plan.algorithm.config, "learning_rate", None)
    if rate is None or layers.find("learning_rate").is_demand:
        return
    proposed = [layers.at(rank, "optimiser").value for rank in Rank if rank < Rank.FILE]
    before = next(filter(None, reversed(proposed)), None)
    if before is not None and before not in (plan.optimiser.name, plan.optimiser.alias):
        yield (
            f"optimiser {plan.optimiser.name!r} takes the place of {before!r}, for which "
            f"learning_rate={rate!r} is meant: to change it, use --set learning_rate=… as well"
        )


def _untaken_settings_of_a_preset(plan: Plan, draft: Draft) -> Iterator[str]:
    """A tuned setting that is misspelt, or is for what another component has taken the place of."""
    for key, setting in draft.layers:
        owner, dot, own = key.partition(".")
        named = [one for one in plan.choices() if owner in (one.name, one.alias, one.slot)]
        names = {name for one in named for name in settings.names(one.component.config)}
        if setting.rank == Rank.PRESET and dot and named and own.partition(".")[0] not in names:
            titles = " and ".join(one.title for one in named)
            yield f"{key}={setting.value!r} ({setting.origin}) has no effect: {titles} has no {own}"


def _images(plan: Plan, draft: Draft) -> Iterator[str]:
    """A policy for any observations is used with images, although others are made for them."""
    from rlk.spaces import describe, is_image  # not at the top: it needs gymnasium

    is_default = draft.layers.find("policy").rank == Rank.ALGORITHM
    if not is_default or not is_image(plan.policy_space):
        return
    others = [name for name in draft.registries.policies.names() if _is_for_images(name, draft)]
    if others and plan.policy.alias not in others:
        options = " or ".join(f"--policy {name}" for name in others[:SHOWN])
        yield (
            f"observations are images, {describe(plan.policy_space)}: policy "
            f"{plan.policy.name!r}, the default, is for any observation; for images: {options}"
        )


def _is_for_images(name: str, draft: Draft) -> bool:
    """Whether a policy takes only images, is not recurrent, and is not an alias of another."""
    try:
        component = draft.registries.policies.get(name).component()
    except BrokenPlugin:
        return False
    own_name = component.name == name and not component.recurrent
    return own_name and component.observation_spaces == ("Image",)
