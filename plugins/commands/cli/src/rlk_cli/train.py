"""Training from a command line: until the plan's last timestep or a signal."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

import click

from rlk.errors import EnvironmentFailed
from rlk_cli.signals import CODES, Interrupted, Signals

if TYPE_CHECKING:
    from rlk.agent import Agent
    from rlk.planning.plan import Plan
    from rlk.planning.spec import RunSpec


def explain(plan: Plan, spec: RunSpec) -> int:
    """Print the plan that was made from `spec`; returns the exit code.

    Of several ranks only the one that will write the run's folder prints it: the plans of the
    others have lost theirs.
    """
    if plan.out is not None or not spec.given.get("out"):
        click.echo(str(plan))
    return 0


def take_over(plan: Plan) -> int | None:
    """The exit code, if a plugin does something other than train in this process; else None.

    Everything that the plan names is imported first, so that no broken run is started.

    Raises:
        BrokenPlugin: for a component that cannot be used.
    """
    code = plan.hooks().only("rlk_take_over", plan=plan)
    if code is None:
        plan.load_factories()
    return None if code is None else int(code)


def train_to_the_end(agent: Agent) -> int:
    """Train to the plan's last timestep or to a signal; returns the exit code.

    It is 0 for the last timestep, the signal's code for a signal, and 1 if a file could not be
    written.
    """
    with Signals(agent.run) as signals:
        reason = _trained(agent, signals)
    code = CODES.get((reason or "").split(" ")[0])  # with several ranks: SIGINT (rank 1)
    return code or int(bool(agent.run.failed_writes))


def _trained(agent: Agent, signals: Signals) -> str | None:
    """Train and close; returns why training ended early, or None."""
    try:
        with agent:
            try:
                return agent.learn_until(agent.plan.total_timesteps)
            finally:
                signals.closing()
    except (Interrupted, EnvironmentFailed) as error:
        # The system may have sent the same signal to the processes of environments.
        name = error.name if isinstance(error, Interrupted) else signals.received
        if name is None:
            raise
        with contextlib.suppress(OSError):  # stderr may be a terminal that was closed
            gave_up = signals.gave_up_saving
            when = "while the run was saved" if gave_up else "in the middle of an iteration"
            click.echo(f"{name} {when}: {error}", err=True)
        return name
    finally:
        if agent.run.failed_writes:
            with contextlib.suppress(OSError):  # stderr may be a file on the same full disk
                click.echo(agent.run.failed_writes, err=True)
