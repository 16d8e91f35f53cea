"""Which ends of episodes are counted: one of a game's lives may end while the game goes on.

An environment says so by `goes_on` in the last info of such an episode. It is an end for what is
learnt (values are not bootstrapped from what follows), but returns and lengths are those of games:
reports, monitors and evaluations wait for the next end without it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rlk.records import Array


def counted(ended: Array, infos: Mapping[str, Any]) -> Array:
    """bool [N]: the environments where a whole episode ended.

    Args:
        ended: bool [N], where one was terminated or truncated.
        infos: of the step, in the format of Gymnasium's vector environments.
    """
    goes_on = infos.get("final_info", {}).get("goes_on")
    return ended if goes_on is None else ended & ~goes_on.astype(bool)
