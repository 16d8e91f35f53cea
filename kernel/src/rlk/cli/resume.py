"""`rlk resume`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from rlk.cli.options import environment_options


@click.command()
@click.argument("run", metavar="RUN")
@environment_options
@click.option(
    "--timesteps",
    "total_timesteps",
    type=float,
    help="Where to end now; default: where it was to end.",
)
@click.option("--quiet", is_flag=True, help="Print nothing but errors.")
def resume(
    run: str, quiet: bool, pairs: tuple[str, ...], plugins: tuple[str, ...], **said: Any
) -> int:
    """Go on with a run where its last checkpoint is.

    RUN is a run folder, or one checkpoint in it. Environment and plugins that came from a file of
    yours are
    named again: no saved file may run code.
    """
    import attrs

    from rlk import checkpoint
    from rlk.agent import Agent
    from rlk.cli.session import train_to_the_end
    from rlk.errors import BadFile
    from rlk.kernel import default_kernel
    from rlk.replan import spec_of
    from rlk.resolve import resolve
    from rlk.spec import parse_settings

    said.pop("debug")
    kernel, path = default_kernel(), Path(run)
    if path.is_dir():
        found = checkpoint.checkpoints(path)
        if not found:
            raise BadFile(
                f"{path} holds no checkpoint. A model alone cannot go on; train anew with rlk run."
            )
        folder, path = path, found[-1]
    else:
        folder = path.parent.parent
    state = checkpoint.read(path, kernel)
    changes = {key: value for key, value in said.items() if value is not None and key != "env"}
    changes |= parse_settings(pairs) | {"verbose": 0 if quiet else 1}
    spec = spec_of(
        state["manifest"]["plan"], env=said["env"], plugins=plugins, changes=changes, observers=True
    )
    spec = attrs.evolve(spec, out=str(folder))
    plan = resolve(kernel, spec, autostart=False)
    agent = Agent(plan, kernel, spec)
    try:
        differs = checkpoint.restore(agent.run, state)
    except BaseException:
        agent.close()
        raise
    if plan.verbose:
        click.echo(
            f"{plan.algorithm.name} on {plan.env.name}: on from {path} at "
            f"{agent.num_timesteps:,} timesteps"
        )
        for sentence in differs:
            click.echo(f"  not as before: {sentence}")
    if agent.num_timesteps >= plan.total_timesteps:
        agent.close()
        click.echo(f"the run is done at {agent.num_timesteps:,}; say --timesteps to go further")
        return 0
    return train_to_the_end(agent, plan.total_timesteps)
