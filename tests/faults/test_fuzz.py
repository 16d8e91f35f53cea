"""Thousands of damaged and forged files: each is refused with its name, or read unchanged.

Some hundred cases run in every `pytest`, ten thousand in `pytest -m fuzz`.
"""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from faults.mutations import EVIL, Mutation, mutated, mutations
from faults.watch import watching
from hypothesis import HealthCheck, Phase, given, settings

import rlk
from rlk.errors import BadFile, PlanError
from rlk.saving import checkpoint
from rlk_testing.tools.states import same

BYTES = 1 << 30
OBSERVATION = np.array([0.01, 0.02, 0.03, 0.04], np.float32)


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A model and a checkpoint, small but with replay, priorities, environments and plugins."""
    folder = tmp_path_factory.mktemp("fuzz")
    made = rlk.make(
        "dqn",
        env="CartPole-v1",
        plugins=["prioritized-replay", "n-step", "normalize", "monitor"],
        policy={"layers": [8]},
        n_envs=2,
        learning_starts=8,
        batch_size=4,
        buffer_size=64,
        seed=1,
    )
    with made as agent:
        agent.learn(40)
        return {
            "model": agent.save(folder / "model"),
            "checkpoint": agent.save_checkpoint(folder / "checkpoint"),
        }


@pytest.fixture(scope="module", autouse=True)
def working_folder(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """A folder with a module that must not be imported."""
    folder = tmp_path_factory.mktemp("downloads")
    (folder / f"{EVIL}.py").write_text("raise SystemExit('a file of the working folder was run')")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        patch.syspath_prepend(str(folder))
        yield folder


def outcome(path: Path, data: bytes, expected: dict[str, Any], *, exact: bool) -> str:
    """The result for a file: refused or loaded; anything else is an error.

    Args:
        path: where it is put.
        data: the file.
        expected: the content of the agent of the undamaged file.
        exact: whether a loaded agent must have the same content.
    """
    path.write_bytes(data)
    with watching() as watched:
        try:
            with rlk.load(path) as agent:
                agent.predict(OBSERVATION)
                found = held(agent)
        except (BadFile, PlanError) as error:
            assert str(error)
            result = "refused"
        else:
            result = "loaded"
    assert EVIL not in sys.modules and EVIL not in watched.imported, "it was imported"
    assert not watched.events
    assert watched.bytes < BYTES
    if result == "loaded" and exact:
        different = [key for key in expected if not same(found[key], expected[key])]
        assert not different, f"it was loaded with other {different}"
    return result


def held(agent: Any) -> dict[str, Any]:
    """The content of an agent, without its plan and what its environments say of themselves."""
    state = checkpoint.run_state(agent.run)
    return {key: value for key, value in state.items() if key not in ("manifest", "environments")}


def fuzz(original: Path, path: Path, count: int, **options: Any) -> Counter[str]:
    """The results of so many cases of one file.

    Args:
        original: the file.
        path: where the damaged ones are put.
        count: how many.
        options: of hypothesis.
    """
    data, outcomes = original.read_bytes(), Counter[str]()
    with rlk.load(original) as agent:
        agent.predict(OBSERVATION)
        expected = held(agent)

    @settings(
        max_examples=count,
        deadline=None,
        database=None,
        phases=[Phase.generate],  # a case is small as drawn; shrinking it takes minutes
        suppress_health_check=list(HealthCheck),
        **options,
    )
    @given(mutations())
    def one(mutation: Mutation) -> None:
        exact = mutation.kind in EXACT
        result = outcome(path, mutated(data, mutation), expected, exact=exact)
        outcomes[f"{mutation.kind}: {result}"] += 1

    one()
    return outcomes


#: Other kinds may make a valid file of another agent.
EXACT = {"type", "flip", "cut", "piece lost", "zeros", "twice", "members compressed", "key twice"}


@pytest.mark.parametrize("name", ["model", "checkpoint"])
def test_damaged_and_forged_files_are_refused_or_read_as_they_were(
    files: dict[str, Path], tmp_path: Path, name: str
) -> None:
    outcomes = fuzz(files[name], tmp_path / "damaged.zip", 100, derandomize=True)
    assert {key.rpartition(" ")[2] for key in outcomes} == {"refused", "loaded"}


@pytest.mark.fuzz
@pytest.mark.timeout(7200)
@pytest.mark.parametrize("name", ["model", "checkpoint"])
def test_thousands_of_damaged_and_forged_files_are_refused_or_read_as_they_were(
    files: dict[str, Path], tmp_path: Path, name: str
) -> None:
    for key, times in sorted(fuzz(files[name], tmp_path / "damaged.zip", 5_000).items()):
        print(f"{name}, {key}: {times}")
