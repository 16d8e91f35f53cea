"""Which storage takes each sampling stage: the replay itself, or one that decorates it."""

from __future__ import annotations

from typing import Any

from rlk.component import STAGES
from rlk.errors import RlkError
from rlk.protocols import Decorator, State
from rlk.records import Array, Batch, Update


class Stages:
    """A replay's decorators and what they have taken over.

    Attributes:
        base: the replay, which takes the stages that no decorator takes.
        owner: the storage that has the method of a stage, by the stage's name.
        decorators: in the order in which they were added.
    """

    def __init__(self, base: Any) -> None:
        self.base = base
        self.owner: dict[str, Any] = dict.fromkeys(STAGES, base)
        self.decorators: list[Any] = []

    def hand_over(self, decorator: Decorator) -> list[str]:
        """Let a decorator take the stages that it has methods for; return their names.

        Raises:
            RlkError: if it has none, or one that another decorator took.
        """
        stages, name = _stages(decorator), type(decorator).__name__
        if not stages:
            raise RlkError(f"{name} takes none of the sampling stages: {', '.join(STAGES)}.")
        for stage in stages:
            if self.owner[stage] is not self.base:
                other = type(self.owner[stage]).__name__
                raise RlkError(f"{other} and {name} both take the sampling stage {stage!r}.")
        self.owner.update(dict.fromkeys(stages, decorator))
        self.decorators.append(decorator)
        return stages

    def added(self, slots: Array) -> None:
        """Pass the slots of new transitions to the decorators."""
        for decorator in self.decorators:
            decorator.added(slots)

    def feedback(self, batch: Batch, update: Update) -> None:
        """Pass an update to the decorators."""
        for decorator in self.decorators:
            decorator.feedback(batch, update)

    def state_dict(self) -> State:
        """Their states, by the names of what they take."""
        return {_name(each): each.state_dict() for each in self.decorators}

    def load_state_dict(self, state: State) -> None:
        """Load the result of `state_dict`; a decorator without a saved state begins anew.

        If that is the one that chooses, decorators with variants begin anew as well, because they
        have to offer their variants to it again.
        """
        begin = [each for each in self.decorators if _name(each) not in state]
        if self.owner["choose"] in begin:
            begin += [each for each in self.decorators if getattr(each, "variants", 1) > 1]
        for each in self.decorators:
            if each not in begin:
                each.load_state_dict(state[_name(each)])
        for each in self.decorators:
            if each in begin and len(self.base):
                each.added(self.base.oldest_first())


def _name(decorator: Any) -> str:
    """What its state is saved under."""
    return "+".join(_stages(decorator))


def _stages(decorator: Any) -> list[str]:
    """The stages that it has methods for."""
    return [stage for stage in STAGES if hasattr(decorator, stage)]
