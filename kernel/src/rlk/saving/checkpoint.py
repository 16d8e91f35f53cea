"""The state of a run: what a model and a checkpoint hold, and how a run is restored from it.

A State is nested dicts of JSON values, arrays and tensors; a serializer decides how a file holds
it.

What a program asks for is refused where a parameter was replaced (`moved_parameters`). What
training writes by itself is not, because a refusal would lose what was trained until then:
`model_in_training` and `run_in_training` hold the parameters that the optimiser moves.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import attrs

from rlk.abilities import AdoptsReplays, KeepsEnvironmentState, load_state, offers, state_of
from rlk.errors import BadFile, RlkError
from rlk.protocols import State
from rlk.registry.answers import check_given
from rlk.restoring.saved_plan import as_json
from rlk.running.access import check_not_learning_elsewhere
from rlk.running.environment_states import environment_states
from rlk.running.moved_parameters import adopt_parameters
from rlk.saving.changed_parts import (
    changed_collector,
    refuse_other_n_envs,
    refused_as_other_policy,
    with_new_optimisers,
)
from rlk.saving.manifest import STATE_VERSION, Content
from rlk.saving.plugin_states import OF_CHECKPOINT, WITH_MODEL, missing, restore_plugins
from rlk.saving.restored_parts import part_of, restoring
from rlk.saving.state_check import check_state
from rlk.saving.untrained import restore_untrained, untrained

if TYPE_CHECKING:
    from rlk.running.run import Run

#: The parts of a run that every file holds: their names in both, and in an error.
PARTS = {
    "parameters": "parameters",
    "algorithm": "algorithm",
    "optimise": "optimisers",
    "streams": "random streams",
    "clock": "clock",
    "metrics": "metrics",
}
_WITHIN_COLLECTION = (
    "it was saved within a collection, as from a callback of single steps, and begins a new one"
)
_WITHIN_EPISODES = (
    "The checkpoint was taken within episodes: resume it with the noise and noise settings that it "
    "had, or load a model (model.zip)."
)
_WITHOUT_EXPERIENCE = (
    "it was loaded as a model, not as a checkpoint: replay, environments and what plugins keep in "
    "checkpoints alone start anew"
)


# ---- of a run ------------------------------------------------------------------------------------


def model_state(run: Run) -> State:
    """What a model holds: everything that learning needs except replay and environments.

    Raises:
        RlkError: if a parameter was replaced, as `adopt_parameters` says.
    """
    adopt_parameters(run)
    return model_in_training(run)


def model_in_training(run: Run) -> State:
    """`model_state` with the parameters that are trained, whatever a program put in their place."""
    buffers = {name: value.clone() for name, value in untrained(run).items()}
    parts = {part: state_of(getattr(run, part)) for part in PARTS}
    for group, saved in parts["optimise"].items():
        whose = type(run.optimise.steps[group]).__qualname__
        check_given(f"the optimiser {whose} of group {group!r}", "state_dict", saved)
    for part, saved in parts.items():
        check_given(_title(run, part), "state_dict", saved)
    noises = {name: _state_of(noise, f"noise {name!r}") for name, noise in run.noises.items()}
    state = {"manifest": _manifest(run, "model"), "buffers": buffers, "noises": noises, **parts}
    if of_plugins := run.hooks.by_plugin("rlk_save_with_model", run=run):
        state[WITH_MODEL] = of_plugins
    return state


def run_state(run: Run, *, replay: bool = True, environments: bool = True) -> State:
    """What a checkpoint holds: with replay and environments, a run continues bit for bit.

    Without environments, it does not hold the collector's state either: episodes start anew. Within
    a collection, its manifest says so, because the run then begins a new one.

    Raises:
        RlkError: as `model_state`, or if another thread trains this run.
    """
    check_not_learning_elsewhere(run, "save_checkpoint")
    adopt_parameters(run)
    return run_in_training(run, replay=replay, environments=environments)


def run_in_training(run: Run, *, replay: bool = True, environments: bool = True) -> State:
    """`run_state` with the parameters that are trained, as `model_in_training`."""
    state = model_in_training(run)
    contents = state["manifest"]["contents"]
    contents.append("run")
    if run.collecting:
        state["manifest"]["within_collection"] = True
    state[OF_CHECKPOINT] = run.hooks.by_plugin("rlk_save", run=run, replay=replay)
    if replay:
        state["storage"] = _state_of(run.storage, run.plan.storages[0].title)
        contents.append("storage")
    if environments:
        state["collector"] = _state_of(run.collector, run.plan.collector.title)
        states = environment_states(run.env)
        if states is not None:
            state["environments"] = states
            contents.append("environments")
    return state


def _state_of(part: Any, title: str) -> State:
    """The state of a part of the run; BrokenPlugin if no file can hold it."""
    state = state_of(part)
    check_given(title, "state_dict", state)
    return state


def _title(run: Run, part: str) -> str:
    """What messages call one of `PARTS`."""
    return run.plan.algorithm.title if part == "algorithm" else f"the run's {PARTS[part]}"


def replay_state(run: Run) -> State:
    """The contents of the replay, and nothing else.

    Raises:
        RlkError: if no other run can begin with this kind of storage.
    """
    check_not_learning_elsewhere(run, "save_replay_buffer")
    _check_replay(run)
    title = run.plan.storages[0].title
    return {"manifest": _manifest(run, "storage"), "storage": _state_of(run.storage, title)}


def _check_replay(run: Run) -> None:
    if not offers(run.storage, AdoptsReplays):
        raise RlkError(
            f"{run.plan.storages[0].title} keeps no replay that runs can hand to each other. "
            "Use an off-policy algorithm with --storage replay."
        )


def _manifest(run: Run, *contents: Content) -> State:
    dists = {(choice.dist, choice.version) for choice in run.plan.choices() if choice.version}
    return {
        "state_version": STATE_VERSION,
        "contents": list(contents),
        "timesteps": run.timesteps,
        "dists": dict(sorted(dists)),
        "plan": as_json(attrs.evolve(run.plan, seed=run.streams.seed)),
    }


# ---- and back ------------------------------------------------------------------------------------


def restore(run: Run, state: State) -> list[str]:
    """Put a saved state into a run of the same plan; its optimisers may be others.

    Returns:
        Sentences on what will differ from a run that was never interrupted.

    Raises:
        RlkError: if a parameter of the run was replaced; the run is then unchanged.
        PlanError: if another policy makes other networks; the run is then unchanged.
        BadFile: if the parameters do not fit (the run is then unchanged), or if another part
            cannot load its saved state.
    """
    adopt_parameters(run)
    state, differs = with_new_optimisers(run, state)
    parameters, *others = PARTS
    with refused_as_other_policy(state["manifest"]["plan"], run.plan):
        _restore_part(run.parameters, state, parameters, _title(run, parameters))
    for part in others:
        _restore_part(getattr(run, part), state, part, _title(run, part))
    restore_untrained(run, part_of(state, "buffers"))
    _restore_noises(run, part_of(state, "noises"))
    run.refresh_schedules()
    if WITH_MODEL in state:
        restore_plugins(run, state, WITH_MODEL, "rlk_load_with_model")
    if "run" not in state["manifest"]["contents"]:
        run.collector.forget()  # its actor begins with the restored noises
        return [*differs, _WITHOUT_EXPERIENCE, *(one.sentence for one in missing(run, state))]
    return [*differs, *_restore_experience(run, state)]


def as_model(state: State) -> State:
    """A checkpoint taken as a model: only what a model holds is restored from it."""
    return {**state, "manifest": {**state["manifest"], "contents": ["model"]}}


def _restore_experience(run: Run, state: State) -> list[str]:
    """Restore plugins, replay and episodes; return sentences on what will differ."""
    contents, differs = state["manifest"]["contents"], list[str]()
    if "storage" in contents or "environments" in contents:
        refuse_other_n_envs(run, state["manifest"]["plan"]["run"]["n_envs"])
    if state["manifest"].get("within_collection"):
        differs.append(_WITHIN_COLLECTION)
    restore_plugins(run, state, OF_CHECKPOINT, "rlk_load")
    differs += (one.sentence for one in missing(run, state))
    if "storage" in contents:
        _restore_part(run.storage, state, "storage", run.plan.storages[0].title)
    else:
        fills_up = "" if run.plan.collector.component.steps_nothing else " and fills up anew"
        differs.append(f"the replay was left out of the checkpoint{fills_up}")
    return differs + _restore_episodes(run, state)


def _restore_episodes(run: Run, state: State) -> list[str]:
    """Restore environments and collector, or let new episodes begin; return what will differ."""
    manifest = state["manifest"]
    if changed := changed_collector(manifest["plan"], run.plan):
        run.collector.forget()
        return [changed]
    if "environments" in manifest["contents"] and offers(run.env, KeepsEnvironmentState):
        saved = part_of(state, "environments", list)
        refuse_other_n_envs(run, len(saved))
        with restoring(f"the environments {run.plan.env.name!r}"):
            run.env.reset(seed=run.streams.integers("environments", run.n_envs))
            run.env.set_state(saved)
        try:
            _restore_part(run.collector, state, "collector", run.plan.collector.title)
        except BadFile as error:  # its actor's carry is what noises keep from step to step
            raise BadFile(f"{error} {_WITHIN_EPISODES}") from error
        return []
    run.collector.forget()
    if not run.clock.cumulative_timesteps or run.plan.collector.component.steps_nothing:
        return []  # no episode had begun
    return [f"the checkpoint has no state of {run.plan.env.name}: episodes start anew"]


def _restore_part(part: Any, state: State, key: str, title: str) -> None:
    """Let a part of the run load its saved state, if that has the form of its own."""
    saved = part_of(state, key)
    check_state(saved, state_of(part), f"the saved state of {title}: {key}")
    with restoring(title):
        load_state(part, saved)


def _restore_noises(run: Run, saved: State) -> None:
    """Restore the noises; one that the file does not have starts fresh."""
    for name in run.noises.keys() & saved.keys():
        _restore_part(run.noises[name], saved, name, f"noise {name!r}")


def adopt_replay(run: Run, state: State) -> None:
    """Let a run begin with the replay of another one.

    Raises:
        RlkError: if the run's storage cannot begin with one.
        BadFile: if the replay does not fit.
    """
    check_not_learning_elsewhere(run, "load_replay_buffer")
    _check_replay(run)
    saved = part_of(state, "storage")
    with restoring(run.plan.storages[0].title):
        run.storage.adopt(saved)
