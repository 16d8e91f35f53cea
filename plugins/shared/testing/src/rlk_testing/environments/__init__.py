"""Small environments for tests, such as one for every action space. They import no torch.

Their names are `rlk_testing.environments:Walk`, as `--env` takes them.
"""

from __future__ import annotations

from rlk_testing.environments.failing import Doomed as Doomed
from rlk_testing.environments.failing import Fate as Fate
from rlk_testing.environments.forever import Forever as Forever
from rlk_testing.environments.masked_game import MaskedGame as MaskedGame
from rlk_testing.environments.match import BoxMatch as BoxMatch
from rlk_testing.environments.match import BoxTableMatch as BoxTableMatch
from rlk_testing.environments.match import DiscreteMatch as DiscreteMatch
from rlk_testing.environments.match import Match as Match
from rlk_testing.environments.match import MultiBinaryMatch as MultiBinaryMatch
from rlk_testing.environments.match import MultiBinaryTableMatch as MultiBinaryTableMatch
from rlk_testing.environments.match import MultiDiscreteMatch as MultiDiscreteMatch
from rlk_testing.environments.match import MultiDiscreteTableMatch as MultiDiscreteTableMatch
from rlk_testing.environments.match import Result as Result
from rlk_testing.environments.walk import Hangs as Hangs
from rlk_testing.environments.walk import Misfit as Misfit
from rlk_testing.environments.walk import Walk as Walk

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
