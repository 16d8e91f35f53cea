"""Small environments for tests, such as one for every action space. They import no torch.

Their names are `rlk_testing.environments:Walk`, as `--env` takes them.
"""

from __future__ import annotations

from rlk_testing.environments.failing import Doomed, Fate
from rlk_testing.environments.forever import Forever
from rlk_testing.environments.masked_game import MaskedGame
from rlk_testing.environments.match import (
    BoxMatch,
    BoxTableMatch,
    DiscreteMatch,
    Match,
    MultiBinaryMatch,
    MultiBinaryTableMatch,
    MultiDiscreteMatch,
    MultiDiscreteTableMatch,
    Result,
)
from rlk_testing.environments.walk import Hangs, Misfit, Walk

__all__ = [
    "BY_ACTION_SPACE",
    "BY_SPACE_OF_SEVERAL_AXES",
    "BoxMatch",
    "BoxTableMatch",
    "DiscreteMatch",
    "Doomed",
    "Fate",
    "Forever",
    "Hangs",
    "MaskedGame",
    "Match",
    "Misfit",
    "MultiBinaryMatch",
    "MultiBinaryTableMatch",
    "MultiDiscreteMatch",
    "MultiDiscreteTableMatch",
    "Result",
    "Walk",
    "environment_named",
]

#: The environment for every action space that components declare, as `--env` takes it.
BY_ACTION_SPACE = {
    "Discrete": "rlk_testing.environments:DiscreteMatch",
    "Box": "rlk_testing.environments:BoxMatch",
    "MultiDiscrete": "rlk_testing.environments:MultiDiscreteMatch",
    "MultiBinary": "rlk_testing.environments:MultiBinaryMatch",
}
#: Likewise, with actions of several axes.
BY_SPACE_OF_SEVERAL_AXES = {
    "Box": "rlk_testing.environments:BoxTableMatch",
    "MultiDiscrete": "rlk_testing.environments:MultiDiscreteTableMatch",
    "MultiBinary": "rlk_testing.environments:MultiBinaryTableMatch",
}


def environment_named(asked: str) -> type | None:
    """The class that `rlk_testing.environments:NAME` refers to; None for any other name."""
    module, _, name = asked.partition(":")
    found = globals().get(name) if module == __name__ else None
    return found if isinstance(found, type) else None
