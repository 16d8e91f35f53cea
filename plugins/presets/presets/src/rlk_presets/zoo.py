"""The preset source `zoo`: tuned settings in `data/<algo>.toml`, with where they come from."""

from __future__ import annotations

from collections.abc import Callable
from importlib.resources import files

from rlk_presets.folder import PresetFolder

#: Keys of an entry about its source, which `promises.py` reads.
ABOUT = ("source", "least", "measure")


class Zoo(PresetFolder):
    """The settings of this package.

    Args:
        installed: whether a component of that name is installed; None asks the default kernel.
    """

    def __init__(self, installed: Callable[[str], bool] | None = None) -> None:
        super().__init__(files("rlk_presets") / "data", about=ABOUT, installed=installed)
