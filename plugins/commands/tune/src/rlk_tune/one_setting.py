"""Which names of settings mean the same.

Those are `gamma` and `dqn.gamma`, or `policy.layers` and `mlp.layers`, in a run of DQN with that
policy.
"""

from __future__ import annotations

from collections.abc import Iterable

from rlk.planning.plan import Plan
from rlk.registry.kinds import is_group_slot


class Names:
    """The names of settings in one run.

    Args:
        plan: of the run, which says what its algorithm is and what fills its slots.
    """

    def __init__(self, plan: Plan) -> None:
        self._algorithm = plan.algorithm
        self._owners: dict[str, set[str]] = {}
        for choice in plan.choices():
            for owner in (choice.name, choice.alias, choice.slot):
                # Below the slot of a parameter group, a setting is for that group alone.
                meant = choice.slot if is_group_slot(owner) else choice.name
                self._owners.setdefault(owner, set()).add(meant)

    def same(self, name: str, others: Iterable[str]) -> str | None:
        """The first of other names that means the same setting, or None."""
        mine = self._all(name)
        return next((other for other in others if mine & self._all(other)), None)

    def _all(self, name: str) -> set[str]:
        """The setting below the own names of all components that take it."""
        owner, dot, own = name.partition(".")
        if not dot:
            owner, own = self._algorithm.name, name
        found = self._below_own_names(owner, own)
        if f"{self._algorithm.name}.{own}" in found:
            for forwards, target in self._algorithm.component.forwarded():
                if forwards == own:
                    found |= self._below_own_names(*target.split(".", 1))
        return found

    def _below_own_names(self, owner: str, setting: str) -> set[str]:
        """The setting below the names of the components that are meant by a name or a slot."""
        return {f"{each}.{setting}" for each in self._owners.get(owner, {owner})}
