"""Which values of a search space do not fit into the timesteps of a trial.

An agent collects a whole number of times: with an `n_steps` of 2048 in eight environments, 1,000
timesteps become 16,384, and such a trial would be compared with others that train for a sixteenth.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from typing import Any

from rlk.planning.plan import Plan
from rlk_tune.one_setting import Names
from rlk_tune.ranges import Range
from rlk_tune.spaces import Ranges
from rlk_tune.usable import left_out

#: Settings of on-policy algorithms that say how much is collected before each update: in steps of
#: every environment, and in timesteps of all together.
STEPS_OF_EACH = ("n_steps", "timesteps_per_actorbatch")
TIMESTEPS = ("timesteps_per_batch",)
#: The setting of off-policy algorithms that says how many timesteps come before the first update.
BEFORE_UPDATES = ("learning_starts",)
#: How much longer than asked a trial may train, as a factor.
LONGEST = 1.1


class Fitting:
    """Compares values with the timesteps of a trial.

    Args:
        plan: of the run that all trials have in common.
    """

    def __init__(self, plan: Plan) -> None:
        self._plan, self._names = plan, Names(plan)

    def within(self, space: Ranges, typed: Collection[str]) -> tuple[Ranges, list[str]]:
        """The part of a search space that fits, and a note for every part that does not.

        Args:
            space: the ranges.
            typed: the names of those that the user types instead, which stay as they are.
        """
        kept, notes = dict(space), list[str]()
        for name, range_ in space.items():
            refused = {} if name in typed else self._too_long(name, range_)
            if not refused:
                continue
            left, note = left_out(name, range_, refused)
            notes.append(note)
            del kept[name]
            kept |= {} if left is None else {name: left}
        return kept, notes

    def warnings(self, typed: Ranges) -> list[str]:
        """A note for every value that the user typed and that does not fit; they are searched."""
        return [
            f"--search {name}: with {value}, {why}"
            for name, range_ in typed.items()
            for value, why in self._too_long(name, range_).items()
        ]

    def _too_long(self, name: str, range_: Range) -> Mapping[Any, str]:
        """Drawn value -> why it does not fit."""
        found = {drawn: self._why(name, range_.value(drawn)) for drawn in range_.probes()}
        return {drawn: why for drawn, why in found.items() if why is not None}

    def _why(self, name: str, value: Any) -> str | None:
        plan = self._plan
        total = plan.total_timesteps
        if not isinstance(value, int) and not (isinstance(value, float) and value.is_integer()):
            return None  # planning refuses it
        if self._names.same(name, BEFORE_UPDATES):
            return "a trial would end before its first update" if value >= total else None
        if plan.algorithm.component.collects not in ("on-policy", "both"):
            return None
        if self._names.same(name, STEPS_OF_EACH):
            collected = int(value) * plan.n_envs
        elif self._names.same(name, TIMESTEPS):
            collected = int(value)
        else:
            return None
        trained = math.ceil(total / max(collected, 1)) * collected
        if trained <= LONGEST * total:
            return None
        return f"a trial would train {trained:,} timesteps, not {total:,}"
