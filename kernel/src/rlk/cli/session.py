"""One training session of the command line: folder, signals, files, and what is said about it."""

from __future__ import annotations

import contextlib
import json
import os
import re
import signal
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import attrs
import click

from rlk.errors import PlanError
from rlk.kernel import default_kernel
from rlk.resolve import resolve
from rlk.spec import RunSpec

if TYPE_CHECKING:
    from rlk.agent import Agent
    from rlk.plan import Plan

SIGNALS = {signal.SIGINT: 130, signal.SIGTERM: 143}


def start(spec: RunSpec) -> int:
    """Plan, build and train; returns the exit code."""
    kernel = default_kernel()
    asked = None if spec.out == "pending" else spec.out
    plan = resolve(kernel, spec, terminal=sys.stderr.isatty())
    if plan.out is not None:
        out = str(choose_folder(asked, plan))
        spec, plan = attrs.evolve(spec, out=out), attrs.evolve(plan, out=out)
    code = _taken_over(plan)
    if code is not None:
        return code
    from rlk.agent import Agent

    with Agent(plan, kernel, spec) as agent:
        if plan.out is not None:
            write_plan(agent, Path(plan.out))
        _say_start(agent)
        return train_to_the_end(agent, plan.total_timesteps)


def _taken_over(plan: Plan) -> int | None:
    from rlk.build import active_hooks

    code: int | None = active_hooks(plan).first("rlk_take_over", plan=plan)
    return code


def train_to_the_end(agent: Agent, timesteps: int) -> int:
    """Train with signals turned into stops at an iteration's border, and say how it ended.

    Returns:
        The exit code.
    """
    with agent, _signals(agent) as caught:
        began, first = time.monotonic(), agent.num_timesteps
        reason = agent.learn_until(timesteps)
        seconds = time.monotonic() - began
    if agent.plan.verbose:
        _say_end(agent, reason, agent.num_timesteps - first, seconds, interrupted=bool(caught))
    return SIGNALS[caught[0]] if caught else 0


@contextlib.contextmanager
def _signals(agent: Agent) -> Iterator[list[signal.Signals]]:
    """The first Ctrl-C or SIGTERM stops at the next border, the second at once."""
    caught: list[signal.Signals] = []

    def handle(number: int, frame: Any) -> None:
        which = signal.Signals(number)
        if caught:
            raise KeyboardInterrupt
        caught.append(which)
        agent.run.stop(which.name)

    before = {which: signal.signal(which, handle) for which in SIGNALS}
    try:
        yield caught
    finally:
        for which, handler in before.items():
            signal.signal(which, handler)


def choose_folder(asked: str | None, plan: Plan) -> Path:
    """The run's folder, made. Raises PlanError if it is there and not empty."""
    if asked is None:
        stamp = time.strftime("%Y%m%d-%H%M%S")
        name = f"{plan.algorithm.name}-{plan.env.name}-{plan.seed}-{stamp}"
        path = Path("runs") / re.sub(r"[^A-Za-z0-9._-]+", "_", name)
        number = 1
        while path.exists():
            number += 1
            path = path.with_name(f"{path.name.rpartition('+')[0] or path.name}+{number}")
    else:
        path = Path(asked)
    if path.exists() and (not path.is_dir() or any(path.iterdir())):
        raise PlanError(
            f"--out {path} is there and not empty. Name another folder, or: rlk resume {path}"
        )
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise PlanError(f"--out {path} cannot be made: {error.strerror}.") from None
    return path


def write_plan(agent: Agent, out: Path) -> None:
    """`plan.json`, and the same run as a `spec.toml` that `rlk run` takes."""
    plan = agent.plan.as_json()
    plan["run"]["seed"] = agent.run.streams.seed
    (out / "plan.json").write_text(json.dumps(plan, indent=2) + "\n")
    (out / "spec.toml").write_text(spec_toml(plan))


def spec_toml(plan: dict[str, Any]) -> str:
    """A saved plan as SPEC.toml.

    What a file cannot hold (callables, objects) is left out with a comment.
    """
    by_slot: dict[str, list[dict[str, Any]]] = {}
    for component in plan["components"]:
        by_slot.setdefault(component["slot"], []).append(component)
    (algorithm,) = by_slot.pop("algorithm")
    singles, plugins = {}, []
    for slot, components in by_slot.items():
        if slot in ("decorator", "wrapper", "callback", "logger", "extension"):
            plugins += [c["name"] for c in components]
        else:
            singles[slot] = components[0]["name"]
    lines = [f"algo = {json.dumps(algorithm['name'])}", 'preset = "none"']
    lines += [f"{key} = {_toml(value)}" for key, value in singles.items()]
    lines += [
        f"{key} = {_toml(v)}" for key, v in plan["run"].items() if v is not None and key != "preset"
    ]
    lines += [f"plugins = {_toml(plugins)}", "", "[env]", f"id = {_toml(plan['env']['name'])}"]
    lines += [f"{key} = {_toml(value)}" for key, value in plan["env"]["kwargs"].items()]
    lines += ["", "[settings]", *_settings(algorithm["settings"])]
    for component in plan["components"]:
        if component["slot"] != "algorithm" and component["settings"]:
            lines += ["", f"[{component['name']}]", *_settings(component["settings"])]
    return "\n".join(lines) + "\n"


def _settings(values: dict[str, Any]) -> list[str]:
    lines = []
    for key, value in values.items():
        if isinstance(value, dict) and "callable" in value:
            lines.append(f"# {key} was the callable {value['callable']}")
        else:
            lines.append(f"{key} = {_toml('none' if value is None else value)}")
    return lines


def _toml(value: Any) -> str:
    """A JSON value as TOML: the two write scalars and lists alike; tables go inline."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{json.dumps(k)} = {_toml(v)}" for k, v in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(_toml(item) for item in value) + "]"
    return json.dumps(value)


def _say_start(agent: Agent) -> None:
    plan, run = agent.plan, agent.run
    if not plan.verbose:
        return
    why = (
        "chosen by --device"
        if plan.device != "auto"
        else "auto: networks of this kind are fastest there"
    )
    click.echo(f"{plan.algorithm.name} on {plan.env.name} x {plan.n_envs}, seed {run.streams.seed}")
    for note in plan.notes:
        click.echo(f"  {note}")
    click.echo(f"  device {run.device} ({why}), {run.parameters.flat.numel():,} parameters")
    click.echo(f"  {plan.total_timesteps:,} timesteps into {plan.out}{os.sep}")
    if plan.verbose > 1:
        click.echo(plan.explain())


def _say_end(
    agent: Agent, reason: str | None, steps: int, seconds: float, *, interrupted: bool
) -> None:
    out = Path(str(agent.plan.out))
    speed = f"{steps:,} timesteps in {seconds:.1f} s ({steps / max(seconds, 1e-9):,.0f} a second)"
    click.echo(f"stopped by {reason} after {speed}" if reason else f"done: {speed}")
    if agent.run.evaluation_return is not None:
        click.echo(f"  last evaluation: mean return {agent.run.evaluation_return:.1f}")
    for name in ("model.zip", "best_model.zip"):
        if (out / name).exists():
            click.echo(f"  {out / name}")
    if interrupted or reason:
        click.echo(f"go on with: rlk resume {out}")
    else:
        click.echo(f"next: rlk evaluate {out} | rlk enjoy {out} | rlk plot {out}")
