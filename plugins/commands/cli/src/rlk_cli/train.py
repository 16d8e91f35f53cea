"""Training from a command line: until the plan's end or a signal, and what is printed then."""

from __future__ import annotations

import contextlib
import signal
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

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
    """Train to the plan's last timestep or to a signal and print how it ended; the exit code."""
    began, before = time.monotonic(), agent.num_timesteps
    with agent, _signals(agent):
        reason = agent.learn_until(agent.plan.total_timesteps)
        seconds, steps = time.monotonic() - began, agent.num_timesteps - before
    if agent.plan.verbose:
        how = f"stopped by {reason} after" if reason else "done:"
        speed = f"{steps / max(seconds, 1e-9):,.0f} a second"
        click.echo(f"{how} {steps:,} timesteps in {seconds:.1f} s ({speed})")
        _print_files(agent, Path(str(agent.plan.out)), stopped=reason is not None)
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


def _print_files(agent: Agent, out: Path, *, stopped: bool) -> None:
    if agent.run.evaluation_return is not None:
        click.echo(f"  last evaluation: mean return {agent.run.evaluation_return:.1f}")
    suffix = agent.plan.serializer.make().suffix
    for file in (out / f"model{suffix}", out / f"best_model{suffix}"):
        if file.exists():
            click.echo(f"  {file}")
    follow = f"next: rlk evaluate {out} | rlk enjoy {out} | rlk plot {out}"
    click.echo(f"go on with: rlk resume {out}" if stopped else follow)
