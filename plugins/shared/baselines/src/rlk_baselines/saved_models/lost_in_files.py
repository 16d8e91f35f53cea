"""What no file of a model brings back, told by the names of the model's arguments."""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping
from typing import TYPE_CHECKING, Any

import attrs

from rlk.plain_values import was_callable
from rlk.restoring.lost_settings import LostSetting
from rlk_baselines.refusals import Refused

if TYPE_CHECKING:
    from rlk.agent import Agent
    from rlk_baselines.construction import Constructed

LOST_NOISE = LostSetting(
    key="action_noise",
    typed="action_noise",
    value=None,
    was="a noise of a program's own class, which no file holds",
    computes=False,
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


def name_lost(model: Constructed, agent: Agent, *, is_noise_lost: bool) -> None:
    """Let `learn` warn of what an agent has lost by the names of the model's arguments.

    Args:
        model: the model that the agent is for.
        agent: the agent, as it was loaded.
        is_noise_lost: whether the model was saved with a noise that was not passed again.
    """
    lost = [_by_argument(model, one) for one in agent.spec.learns_without]
    lost += [LOST_NOISE] * is_noise_lost
    agent.spec = attrs.evolve(agent.spec, learns_without=tuple(lost))


def still_lost(lost: Iterable[object], names: Container[str]) -> tuple[object, ...]:
    """What `name_lost` has named, without what is lost of the arguments of these names."""
    return tuple(one for one in lost if not (isinstance(one, LostSetting) and one.typed in names))


def _by_argument(model: Constructed, lost: object) -> object:
    """A lost setting, with the name of the argument that gives it again."""
    if not isinstance(lost, LostSetting):
        return lost
    known = [one for one in model._arguments().values() if not one.deprecated_for]
    name = next((one.name for one in known if one.rlk == lost.typed), lost.typed)
    return attrs.evolve(lost, typed=name)
