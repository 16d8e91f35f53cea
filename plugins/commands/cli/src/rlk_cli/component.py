"""The commands of this distribution; each is imported when it is called."""

from __future__ import annotations

from rlk.component import Component

run = Component(name="run", factory="rlk_cli.run:run", summary="Train an agent.")

listing = Component(
    name="plugins.list",
    factory="rlk_cli.listing:list_plugins",
    summary="List all installed components by kind.",
)

show = Component(
    name="plugins.show",
    factory="rlk_cli.show:show",
    summary="Show one component: what it does, needs and takes.",
)

check = Component(
    name="plugins.check",
    factory="rlk_cli.check:check",
    summary="Check that all components, or those that are named, can be used.",
)
