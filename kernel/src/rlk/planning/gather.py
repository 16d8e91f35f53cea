"""What the run should be made of, as the user, the algorithm, presets and plugins want it."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any

import attrs

from rlk.abilities import ExplainsAbsence, offers
from rlk.errors import BrokenPlugin, PlanError
from rlk.planning.choice import ANSWERING, Choice, activated
from rlk.planning.configure import configured
from rlk.planning.draft import Draft, is_refusal
from rlk.planning.layers import Rank, SettingLayers
from rlk.planning.parse import parse_plugin
from rlk.planning.select import JOINED, one_distribution, select
from rlk.planning.spec import CALLER, RunSpec, flatten, plugin_key
from rlk.registry.entry import Entry
from rlk.registry.external import find_entry
from rlk.registry.hooks import Hooks
from rlk.registry.kinds import LISTS, SLOTS, STACKED, is_group_slot
from rlk.registry.registries import Registries

if TYPE_CHECKING:
    from rlk.registry.kernel import Kernel


def gather(kernel: Kernel, spec: RunSpec, *, moments: tuple[str, ...]) -> Draft:
    """Every setting and plugin that anybody wants in a run of this spec.

    Args:
        kernel: where components come from.
        spec: what the user asked for.
        moments: values of `Component.autostart` with which components join unasked.

    Raises:
        PlanError: for whatever does not exist or contradicts itself.
    """
    draft = _begin(kernel.registries, spec)
    draft = _with_request(draft, spec)
    draft = _with_preset(draft, spec.given.get("preset", "none"))
    draft = _with_autostarted(draft, moments)
    # What settings put in may propose settings, and these may put in more.
    draft = _with_activated(_with_selected(draft))
    draft = _with_patches(draft, spec)
    return _with_activated(_with_selected(draft))


def _begin(registries: Registries, spec: RunSpec) -> Draft:
    """The algorithm with its defaults, and what the user leaves out, also if something wants it."""
    entry = find_entry(spec.algo, "algorithms", registries)
    algorithm = Choice.of(entry, "algorithm", spec.origins.get("algo", CALLER))
    defaults = algorithm.component.defaults
    group_slots = dict.fromkeys(filter(is_group_slot, defaults), "optimisers")
    layers = SettingLayers(algorithm.name, {**SLOTS, **group_slots})
    draft = Draft(registries, algorithm, layers, notes=spec.notes).without(spec.plugins)
    return draft.with_settings(defaults, f"algorithm {algorithm.name}", Rank.ALGORITHM)


def _with_request(draft: Draft, spec: RunSpec) -> Draft:
    """With what the user gives, and with what a file gives in the user's place."""
    for key, value in spec.given.items():
        origin = spec.origins.get(key)
        rank = Rank.FILE if origin else Rank.USER
        draft = draft.with_settings({key: value}, origin or CALLER, rank)
    for plugin in spec.plugins:
        if not is_refusal(plugin):
            by = spec.origins.get(plugin_key(plugin), CALLER)
            draft = draft.with_plugins([plugin], by, Rank.USER)
    return draft


# ---- presets -------------------------------------------------------------------------------------


def _with_preset(draft: Draft, wanted: Any) -> Draft:
    """With tuned settings: of the named source, of the first that has some (`auto`), or `none`."""
    if wanted == "none":
        return draft
    sources = draft.registries.presets
    if not isinstance(wanted, str):
        raise PlanError(
            f"preset is {wanted!r}; it is a name ({', '.join(sources.names())}), 'auto' or 'none'."
        )
    algo, env = draft.algorithm.name, draft.layers.find("env").value
    env_id = env if isinstance(env, str) else ""
    reasons: list[str] = []
    for name in sources.names() if wanted == "auto" else [wanted]:
        source = sources.get(name).load()()
        found = source.find(algo, env_id)
        if found is not None:
            preset = f"{name}: {algo} on {env}"
            draft = draft.with_settings(flatten(found), f"preset {name}", Rank.PRESET)
            draft = draft.with_notes(*reasons, f"preset {preset} (--preset none turns it off)")
            return attrs.evolve(draft, preset=preset)
        why = _why_not(source, algo, env_id)
        if why:
            reasons.append(f"preset {name} left out: {why}")
    if wanted != "auto":
        why = "; ".join(reasons) or "it has nothing for them"
        on = env_id or f"{env!r:.80}, which is no id"
        raise PlanError(f"preset {wanted!r} for {algo} on {on}: {why}.")
    return draft.with_notes(*reasons)


def _why_not(source: Any, algo: str, env_id: str) -> str | None:
    """Why a preset source passes over settings that it has, if it says so."""
    return source.why_not(algo, env_id) if offers(source, ExplainsAbsence) else None


# ---- plugins -------------------------------------------------------------------------------------


def _with_autostarted(draft: Draft, moments: tuple[str, ...]) -> Draft:
    """With the components that join unasked, except for broken ones."""
    trial = Hooks()
    for entry in (entry for kind in LISTS for entry in draft.registries[kind]):
        if entry.name in draft.refused:
            continue
        with contextlib.suppress(BrokenPlugin):  # `rlk plugins list` shows its cause
            if _joins(entry, moments, trial):
                draft = draft.with_plugins([entry.name], JOINED, Rank.DEFAULT)
    return draft


def _joins(entry: Entry, moments: tuple[str, ...], trial: Hooks) -> bool:
    """Whether a component joins at one of these moments; BrokenPlugin if it would but cannot."""
    component = entry.component()
    is_alias = component.name != entry.name
    if component.autostart not in moments or is_alias:
        return False
    factory = entry.load()
    if entry.kind in ANSWERING and isinstance(factory, type):
        trial.activate(factory, entry.name, entry.owner)
        trial.deactivate(entry.name)
    return True


def _with_patches(draft: Draft, spec: RunSpec) -> Draft:
    """With what the plugins that were put in propose."""
    hooks = activated(configured(choice, draft.layers) for choice in draft.plugins.values())
    for name, patch in hooks.answers("rlk_configure", spec=spec):
        reason = f" ({patch.reason})" if patch.reason else ""
        draft = draft.with_settings(patch.values, f"plugin {name}{reason}", Rank.PATCH)
    return draft


def _with_selected(draft: Draft) -> Draft:
    """With the plugins that settings of the algorithm name (`Component.selects`).

    `action_noise="normal-noise:sigma=0.1"` is as good as `--plugin normal-noise:sigma=0.1`. Where
    several of a kind may be in a run, those of a lower rank stay beside those of a higher one.
    """
    selects = draft.algorithm.component.selects
    found = {key: draft.layers.find(key) for key in selects}
    wanted = {key: one for key, one in found.items() if not _is_nothing(one.value)}
    for key, setting in wanted.items():
        plugin, kind = _as_text(setting.value), selects[key]
        name, _ = parse_plugin(plugin)
        draft.registries[kind].get(name)  # an error names the kind that was expected
        draft = draft.with_plugins([plugin], setting.by, setting.rank)
        highest = max(other.rank for one, other in wanted.items() if selects[one] == kind)
        if setting.rank < highest:
            slots = (slot for slot in STACKED if SLOTS[slot] == kind)
            draft = draft.with_settings(dict.fromkeys(slots, name), setting.by, highest)
    return draft


def _is_nothing(plugin: Any) -> bool:
    """Whether it names none; other objects may compare as they like."""
    return plugin is None or (isinstance(plugin, str) and plugin == "none")


def _as_text(plugin: Any) -> Any:
    """A plugin as a user would type it, of an object that stands for one (`HeldByFiles`)."""
    return plugin.as_setting() if hasattr(plugin, "as_setting") else plugin


def _with_activated(draft: Draft) -> Draft:
    """With the plugins of settings that switch them on (`Component.activates`).

    `prioritized_replay=True` puts the plugin in, and putting the plugin in sets it to True. A
    setting of more values than two does so by all of them but False and none.
    """
    for key, plugin in draft.algorithm.component.activates.items():
        setting = draft.layers.find(key)
        is_on = setting.value is not False and not _is_nothing(setting.value)
        if is_on and setting.rank != Rank.FORWARDED:  # which says that it is in the run
            draft = draft.with_plugins([plugin], setting.by, setting.rank)
        choices = (*select(draft), *one_distribution(draft))
        found = next((choice for choice in choices if choice.name == plugin), None)
        if found is None:
            continue
        if setting.value is False:
            both = f"{key}=false and plugin {plugin!r}"
            raise PlanError(f"{both} contradict each other; drop one of them.")
        if not is_on:
            draft = draft.with_settings({key: True}, found.by, Rank.FORWARDED)
    return draft
