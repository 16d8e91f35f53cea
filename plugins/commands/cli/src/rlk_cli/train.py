"""Training from a command line: until the plan's end or a signal."""

from __future__ import annotations

import contextlib
import signal
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rlk.agent import Agent
    from rlk.planning.plan import Plan

#: Exit codes of a run that a signal stopped.
CODES = {"SIGINT": 130, "SIGTERM": 143}


def take_over(plan: Plan) -> int | None:
    """The exit code, if a plugin does something else in this process than train; else None.

    Everything that the plan names is imported first, so that no broken run is begun.

    Raises:
        BrokenPlugin: for a component that cannot be used.
    """
    plan.load_factories()
    code = plan.hooks().first("rlk_take_over", plan=plan)
    return None if code is None else int(code)


def train_to_the_end(agent: Agent) -> int:
    """Train to the plan's last timestep or to a signal; the exit code."""
    with agent, _signals(agent):
        reason = agent.learn_until(agent.plan.total_timesteps)
    return CODES.get((reason or "").split(" ")[0], 0)  # of several ranks: SIGINT (rank 1)


@contextlib.contextmanager
def _signals(agent: Agent) -> Iterator[None]:
    """The first Ctrl-C or SIGTERM stops at the next iteration's border, the second at once."""

    def stop(number: int, frame: Any) -> None:
        for name in CODES:
            signal.signal(signal.Signals[name], signal.default_int_handler)
        agent.run.stop(signal.Signals(number).name)

    before = {name: signal.signal(signal.Signals[name], stop) for name in CODES}
    try:
        yield
    finally:
        for name, handler in before.items():
            signal.signal(signal.Signals[name], handler)
