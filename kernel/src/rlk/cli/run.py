"""`rlk run`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import attrs
import click

from rlk.cli.options import environment_options, slot_options, spec_from
from rlk.spec import RunSpec, read_spec


@click.command()
@click.argument("spec_file", required=False, metavar="[SPEC.toml]", type=click.Path(dir_okay=False))
@click.option(
    "--algo", metavar="NAME", help="The algorithm; see: rlk plugins list --kind algorithms."
)
@environment_options
@slot_options
@click.option(
    "--timesteps", "total_timesteps", type=float, help="Environment steps, over all environments."
)
@click.option("--n-envs", type=int, help="Environments stepped together.")
@click.option(
    "--preset",
    metavar="NAME",
    help="Tuned settings; auto (the default) where there are any, or none.",
)
@click.option(
    "--out",
    metavar="DIR",
    help="The run's folder; must be empty. Default: runs/<algo>-<env>-<seed>-<time>.",
)
@click.option(
    "--log-interval", type=int, help="Iterations (on-policy) or episodes (off-policy) between rows."
)
@click.option("--quiet", is_flag=True, help="Print nothing but errors.")
@click.option("-v", "verbosity", count=True, help="Say more; twice for everything.")
@click.option("--explain", is_flag=True, help="Print the plan and who chose what; train nothing.")
def run(
    spec_file: str | None, algo: str | None, quiet: bool, verbosity: int, explain: bool, **said: Any
) -> int:
    r"""Train an agent.

    \b
    rlk run --algo dqn --plugin prioritized-replay
    rlk run --algo ppo2 --n-envs 8 --env CartPole-v1 --set gamma=0.98 --seed 1
    """
    said.pop("debug")
    pairs = said.pop("pairs")
    spec = spec_from(algo or "", {**said, "verbose": 0 if quiet else 1 + verbosity}, pairs)
    if spec_file:
        spec = spec.over(read_spec(Path(spec_file)))
    spec = attrs.evolve(
        spec, preset=spec.preset or "auto", seed=_seed(spec), out=spec.out or "pending"
    )
    if explain:
        return _explain(spec)
    from rlk.cli.session import start

    return start(spec)


def _seed(spec: RunSpec) -> int:
    """The seed is settled before the folder is named after it."""
    if spec.seed is not None:
        return int(spec.seed)
    from rlk.seeding import Streams

    return Streams(None).seed % 100_000


def _explain(spec: RunSpec) -> int:
    from rlk.kernel import default_kernel
    from rlk.resolve import resolve

    click.echo(resolve(default_kernel(), spec, terminal=sys.stderr.isatty()).explain())
    return 0
