"""`rlk run`, and what it shares with every command that trains an agent."""

from __future__ import annotations

import contextlib
import secrets
import signal
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import attrs
import click
from click import Option

from rlk.planning.spec import make_spec
from rlk.registry.kernel import default_kernel
from rlk.registry.kinds import SLOTS
from rlk_cli.asked import SHARED, read_spec, said
from rlk_cli.explain import explain

if TYPE_CHECKING:
    from rlk.agent import Agent
    from rlk.planning.plan import Plan

#: Exit codes of a run that a signal stopped.
CODES = {"SIGINT": 130, "SIGTERM": 143}
FOR_SLOTS = [
    Option([f"--{slot.replace('_', '-')}"], metavar="NAME", help=f"The component for {slot}.")
    for slot in SLOTS
]
EXAMPLES = """\b
rlk run --algo dqn --plugin prioritized-replay
rlk run --algo ppo2 --n-envs 8 --env CartPole-v1 --set gamma=0.98 --seed 1"""


@click.command(params=[*SHARED, *FOR_SLOTS], epilog=EXAMPLES)
@click.argument("spec_file", required=False, metavar="[SPEC.toml]", type=click.Path(dir_okay=False))
@click.option("--algo", metavar="NAME", help="The algorithm; rlk plugins list --kind algorithms.")
@click.option("--n-envs", type=int, help="Environments stepped together.")
@click.option("--preset", metavar="NAME", help="Tuned settings; auto unless told, or none.")
@click.option("--out", metavar="DIR", help="Default: runs/<algo>-<env>-<seed>-<time>.")
@click.option("--log-interval", type=int, help="Iterations, or episodes, between rows of metrics.")
@click.option("-v", "verbosity", count=True, help="Say more; twice for everything.")
@click.option(
    "--explain", "explained", is_flag=True, help="Print the plan and who chose what; train nothing."
)
def run(spec_file: str | None, quiet: bool, verbosity: int, explained: bool, **options: Any) -> int:
    """Train an agent."""
    from rlk.planning.resolve import resolve

    verbose = 0 if quiet else 1 + verbosity
    spec = make_spec(options.pop("algo") or "", said(**options) | {"verbose": verbose})
    if spec_file:
        spec = spec.over(read_spec(Path(spec_file)))
    # The seed is settled here, for the folder is named after it; the folder when the plan is known.
    drawn = make_spec("", {"seed": secrets.randbelow(100_000)}, origin="drawn")
    asked = spec.given.get("out")
    spec = spec.over(make_spec("", {"preset": "auto", "out": "runs"})).over(drawn)
    plan = resolve(default_kernel(), spec, terminal=sys.stderr.isatty())
    if explained:
        click.echo(explain(plan))
        return 0
    code = take_over(plan)
    if code is not None:
        return code
    from rlk.agent import Agent
    from rlk.planning.saved_plan import as_json
    from rlk_cli import folder

    if plan.out is not None:
        out = str(folder.choose(asked, plan))
        plan, spec = attrs.evolve(plan, out=out), make_spec("", {"out": out}).over(spec)
    with Agent(plan, default_kernel(), spec) as agent:
        if plan.out is not None:
            folder.write_plan(Path(plan.out), as_json(plan))
        if plan.verbose:
            _say_start(agent)
        return train_to_the_end(agent)


def take_over(plan: Plan) -> int | None:
    """The exit code of whoever does something else here than train; whatever the plan is made of is
    imported before, so that nothing broken is begun.

    Raises:
        BrokenPlugin: for a component that cannot be used.
    """
    plan.load_factories()
    code = plan.hooks().first("rlk_take_over", plan=plan)
    return None if code is None else int(code)


def train_to_the_end(agent: Agent) -> int:
    """Train to the plan's last timestep or to a signal, say how it ended; the exit code."""
    began, before = time.monotonic(), agent.num_timesteps
    with agent, _signals(agent):
        reason = agent.learn_until(agent.plan.total_timesteps)
        seconds, steps = time.monotonic() - began, agent.num_timesteps - before
    if agent.plan.verbose:
        how = f"stopped by {reason} after" if reason else "done:"
        speed = f"{steps / max(seconds, 1e-9):,.0f} a second"
        click.echo(f"{how} {steps:,} timesteps in {seconds:.1f} s ({speed})")
        _say_what_is_left(agent, Path(str(agent.plan.out)), stopped=reason is not None)
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


def _say_start(agent: Agent) -> None:
    plan, run = agent.plan, agent.run
    why = "auto: fastest for such networks" if plan.device == "auto" else "chosen by --device"
    click.echo(f"{plan.algorithm.name} on {plan.env.name} x {plan.n_envs}, seed {run.streams.seed}")
    for note in plan.notes:
        click.echo(f"  {note}")
    click.echo(f"  device {run.device} ({why}), {run.parameters.flat.numel():,} parameters")
    click.echo(f"  {plan.total_timesteps:,} timesteps into {plan.out}/")
    if plan.verbose > 1:
        click.echo(explain(plan))


def _say_what_is_left(agent: Agent, out: Path, *, stopped: bool) -> None:
    if agent.run.evaluation_return is not None:
        click.echo(f"  last evaluation: mean return {agent.run.evaluation_return:.1f}")
    suffix = agent.plan.serializer.make().suffix
    for file in (out / f"model{suffix}", out / f"best_model{suffix}"):
        if file.exists():
            click.echo(f"  {file}")
    follow = f"next: rlk evaluate {out} | rlk enjoy {out} | rlk plot {out}"
    click.echo(f"go on with: rlk resume {out}" if stopped else follow)
