"""Atari games: their ids, and DeepMind's preprocessing (`atari`, `make_atari`, `wrap_deepmind`)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rlk.lazy_names import lazy_names

if TYPE_CHECKING:
    from rlk_atari.deepmind import AtariGame as AtariGame
    from rlk_atari.stable_baselines import make_atari as make_atari
    from rlk_atari.stable_baselines import wrap_deepmind as wrap_deepmind
else:
    __getattr__, __dir__, __all__ = lazy_names(
        __name__,
        {
            "AtariGame": "deepmind",
            "make_atari": "stable_baselines",
            "wrap_deepmind": "stable_baselines",
        },
    )
