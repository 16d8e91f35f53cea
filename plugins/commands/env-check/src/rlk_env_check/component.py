"""What the command line needs to list `rlk env check`, before it is called."""

from __future__ import annotations

from rlk.component import Component

check = Component(
    name="env.check",
    factory="rlk_env_check.command:check",
    summary="Say whether an environment is one that agents can be trained in.",
)
