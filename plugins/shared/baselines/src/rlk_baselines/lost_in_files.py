"""What no file of a model brings back, told by the names of the model's arguments."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import attrs

from rlk.program_warnings import warn_program
from rlk.settings import was_callable
from rlk_baselines.refusals import Refused

if TYPE_CHECKING:
    from rlk.agent import Agent
    from rlk_baselines.construction import Constructed

LOST_NOISE = (
    "the model was saved with an action_noise of a program's own class, which no file holds, and "
    "learns without noise now: pass it again, load(path, env=env, action_noise=…)."
)


def refuse_lost_functions(model: str, policy_kwargs: Mapping[str, Any] | None) -> None:
    """Raise Refused if the saved `policy_kwargs` had functions that were not passed to `load`.

    Args:
        model: the name of the model class.
        policy_kwargs: those of the file, or those that were passed.
    """
    kwargs = policy_kwargs or {}
    lost = {key: value["callable"] for key, value in kwargs.items() if was_callable(value)}
    if lost:
        again = (f"{key}={lost.get(key, value)}" for key, value in kwargs.items())
        raise Refused(
            f"this model's networks were made with functions, {', '.join(lost.values())}, which no "
            "file holds. Pass its policy_kwargs again: "
            f"{model}.load(path, policy_kwargs=dict({', '.join(again)}))."
        )


def tell(model: Constructed, agent: Agent, *, is_noise_lost: bool) -> None:
    """Warn if a loaded agent has another policy; let `learn` warn of what else it lacks.

    Args:
        model: the model that the agent is for.
        agent: the agent, as it was loaded.
        is_noise_lost: whether it was saved with a noise that was not passed again.
    """
    for sentence in agent.differs:
        if sentence.startswith("the policy was "):  # and not only its settings
            warn_program(sentence)
    lost = [_by_argument(model, sentence) for sentence in agent.spec.learns_without]
    lost += [LOST_NOISE] * is_noise_lost
    agent.spec = attrs.evolve(agent.spec, learns_without=tuple(lost))


def still_lost(
    model: Constructed, lost: Iterable[str], changes: Mapping[str, Any]
) -> tuple[str, ...]:
    """The sentences of `tell` on what was lost, without those on what was set since.

    Args:
        model: the model.
        lost: the sentences.
        changes: settings that were set, by rlk's names.
    """
    has_noise = model._given.get("action_noise") is not None
    about_changes = tuple(f"{_argument_of(model, key)} was " for key in changes)
    kept = (one for one in lost if not one.startswith(about_changes))
    return tuple(one for one in kept if not (has_noise and one is LOST_NOISE))


def _by_argument(model: Constructed, sentence: str) -> str:
    """A sentence of rlk on a lost setting, with the name of the argument that gives it again."""
    key, was, rest = sentence.partition(" was ")
    name = _argument_of(model, key)
    return f"{name}{was}{rest}".replace(f": {key}=…", f": {name}=…")


def _argument_of(model: Constructed, key: str) -> str:
    """The name of a model's argument for a setting of rlk; that itself if there is none."""
    known = model._arguments().values()
    return next((one.name for one in known if one.rlk == key and not one.deprecated_for), key)
