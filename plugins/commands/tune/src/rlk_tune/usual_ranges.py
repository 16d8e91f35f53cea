"""The search space of each algorithm of rlk, from `data/<algo>.toml`.

A file has one line for every setting, `gamma = "0.9,0.95,0.99"`, in the grammar of `--search`.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from importlib.resources import files


class UsualRanges:
    """The search space `usual-ranges`."""

    def find(self, algo: str) -> Mapping[str, str] | None:
        """The range of every setting that is worth searching, or None for another algorithm."""
        if algo not in algorithms():
            return None
        text = files("rlk_tune").joinpath("data", f"{algo}.toml").read_text(encoding="utf-8")
        return tomllib.loads(text)


def algorithms() -> list[str]:
    """The algorithms that have ranges."""
    names = (entry.name for entry in files("rlk_tune").joinpath("data").iterdir())
    return sorted(name.removesuffix(".toml") for name in names if name.endswith(".toml"))
