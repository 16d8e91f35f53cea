"""The component of `rlk env check`, which the command line loads before the command."""

from __future__ import annotations

from rlk.component import Component

check = Component(
    name="env.check",
    factory="rlk_env_check.command:check",
    summary="Check whether agents can be trained in an environment.",
)
