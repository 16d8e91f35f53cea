"""sb3-contrib's masked distributions, which are not here: see `elsewhere`."""

from typing import Any

from rlk_sb3_contrib.elsewhere import not_here


def __getattr__(name: str) -> Any:
    raise not_here(__name__, name)
