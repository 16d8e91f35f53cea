"""The meaning of `her`; planning calls it, so it imports nothing heavy."""

from __future__ import annotations

from typing import Any

from rlk_her.config import HERConfig


def stands_for(config: HERConfig) -> dict[str, Any]:
    """The model with hindsight replay, as keys of a SPEC.toml.

    Settings of hindsight replay that the user gives are passed on; the others are its defaults.
    """
    return {
        "algo": config.model,
        "plugins": ["hindsight-replay"],
        "policy": "multi-input",
        "env": "rlk/BitFlipping-v0",
    }
