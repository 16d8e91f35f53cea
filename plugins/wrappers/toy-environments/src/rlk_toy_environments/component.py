"""What planning knows: which module registers an environment id."""

from __future__ import annotations

from rlk.component import Component

component = Component(
    name="toy-environments",
    factory="rlk_toy_environments.component:modules",
    summary="rlk/BitFlipping-v0, a goal environment, and rlk/Identity-v0 and its like",
)


def modules(env: str) -> tuple[str, ...]:
    """The modules to import before Gymnasium is asked for this id; none for those of others."""
    return ("rlk_toy_environments.registration",) if env.startswith("rlk/") else ()
