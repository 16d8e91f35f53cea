"""Random runs: refused in words, or made again by a SPEC.toml, and continued bit for bit.

Some are tried in every `pytest`, a thousand in `pytest -m fuzz`.
"""

from __future__ import annotations

import json
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

import attrs
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from matrix.product import STEPS
from matrix.random_runs import Asks, RandomRun, random_runs
from matrix.trial import acted, seen_by

import rlk
from rlk.agent import Agent
from rlk.errors import EnvironmentFailed, PlanError, RlkError
from rlk.planning.plan import Plan
from rlk.planning.resolve import resolve
from rlk.restoring.saved_plan import as_json
from rlk.saving import checkpoint
from rlk_cli.folder import spec_toml
from rlk_cli.options import read_spec
from rlk_testing.tools.states import same


def accepted(run: RandomRun) -> tuple[Agent, int]:
    """The agent with all asks that are accepted after those before, and the number of refusals."""
    last, refusals = made(attrs.evolve(run, asks=())), 0
    kept: Asks = ()
    for ask in run.asks:
        try:
            agent = made(attrs.evolve(run, asks=(*kept, ask)))
        except PlanError as error:
            assert str(error)
            refusals += 1
        else:
            last.close()
            last, kept = agent, (*kept, ask)
    return last, refusals


def made(run: RandomRun) -> Agent:
    """The agent of a run; PlanError if it is refused."""
    return rlk.make(run.algorithm, total_timesteps=2 * STEPS, **run.keywords())


def in_file(plan: Plan) -> Any:
    """The settings of a plan's run and of its components, as files hold them."""
    found = json.loads(json.dumps(as_json(plan)))
    components = [(one["role"], one["name"], one["settings"]) for one in found["components"]]
    return {**found["run"], "preset": "none"}, found["left_out"], components


def from_file(plan: Plan, file: Path) -> Any:
    """The settings of the same run, made again by `rlk run SPEC.toml`."""
    file.write_text(spec_toml(as_json(plan)))
    return in_file(resolve(plan.kernel, read_spec(file)[0]))


def outcome(run: RandomRun, folder: Path) -> str:
    """What happens to a run: it `trained`, some of it was `refused`, or it `failed` in words."""
    agent, refusals = accepted(run)
    with agent:
        assert from_file(agent.plan, folder / "spec.toml") == in_file(agent.plan)
        try:
            agent.learn(STEPS)
            saved = agent.save_checkpoint(folder / "checkpoint")
            seen = seen_by(agent)
            expected = acted(agent, seen)
            agent.learn(STEPS)
        except RlkError as error:
            assert str(error)
            assert not isinstance(error, EnvironmentFailed), "it took what the world refuses"
            return "failed"
        uninterrupted = held(agent)
    with rlk.load(saved, **run.world()) as loaded:
        assert same(acted(loaded, seen), expected)
        loaded.learn(STEPS)
        resumed = held(loaded)
    different = [key for key in uninterrupted if not same(uninterrupted[key], resumed.get(key))]
    assert not different, f"resumed with other {different}"
    return "refused" if refusals else "trained"


def held(agent: Agent) -> dict[str, Any]:
    """Everything that a checkpoint would hold."""
    state = checkpoint.run_state(agent.run)
    return {key: value for key, value in state.items() if key != "manifest"}


def try_runs(count: int, **options: Any) -> Counter[str]:
    """So many runs, and the number of each outcome."""
    outcomes = Counter[str]()

    @settings(
        max_examples=count,
        deadline=None,
        database=None,
        phases=[Phase.generate],  # a run is small as drawn; shrinking it takes minutes
        suppress_health_check=list(HealthCheck),
        **options,
    )
    @given(random_runs())
    def one(run: RandomRun) -> None:
        with tempfile.TemporaryDirectory() as folder:
            outcomes[outcome(run, Path(folder))] += 1

    one()
    return outcomes


def test_random_runs_are_refused_in_words_or_resumed_bit_for_bit() -> None:
    outcomes = try_runs(25, derandomize=True)
    assert outcomes["trained"] and outcomes["refused"]


@pytest.mark.fuzz
@pytest.mark.timeout(7200)
def test_a_thousand_random_runs_are_refused_in_words_or_resumed_bit_for_bit() -> None:
    for result, times in sorted(try_runs(1_000).items()):
        print(f"{result}: {times}")
