"""A program under mpirun: the models that use MPI in Stable Baselines also do so here."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

from rlk_baselines import PPO1
from rlk_testing.tools.launched import HAS_MPI, MPIRUN, Launched

LIMIT_SECONDS = 200
PROGRAM = Path(__file__).with_name("program_of_ranks.py")


@pytest.mark.skipif(not HAS_MPI, reason="needs mpirun and mpi4py")
def test_ranks_learn_one_model_where_they_do_so_in_stable_baselines(tmp_path: Path) -> None:
    command = [MPIRUN, "-n", "2", sys.executable, PROGRAM]
    job = Launched(command, tmp_path, LIMIT_SECONDS, {})
    try:
        code, printed = job.finish()
    finally:
        job.end()
    assert code == 0, printed
    told = re.findall(r"rank \d: (\w+) (\w+)\.", printed)
    reached = {kind: {found for name, found in told if name == kind} for kind, _ in told}
    assert len(reached["PPO1"]) == 1, "all ranks have the same parameters"
    assert len(reached["DDPG"]) == 1
    assert len(reached["PPO2"]) == 2, "PPO2 uses no MPI there: every rank learns for itself"
    assert reached["evaluated"] == {"True"}, "one rank alone plays what it has loaded"
    assert len(reached["loaded"]) == 1, "a loaded model joins the other ranks when it learns"
    assert reached["continued"] == {"384"}
    assert reached["timesteps"] == {"384"}, "timesteps of all ranks are counted"
    rows = re.findall(r"\| total_timesteps +\| (\d+) ", printed)
    assert rows == ["128", "256", "384", "384"], "one rank prints"
    assert reached["evaluations"] == {"1", "0"}, "rank 0 alone evaluates"
    assert printed.count("Eval num_timesteps=200") == printed.count("Saving model") - 1 == 1
    assert [*tmp_path.glob("saved/by_1_*")] == [], "and saves"
    # Rank 0 stops in its 100th step, in the second collection; rank 1 has then made both of 64.
    assert reached["stopped"] == {"228"}, "all stop with rank 0"
    assert len(list(tmp_path.glob("events/*/events*"))) == 2, "one rank writes, at each training"
    loaded = PPO1.load(tmp_path / "model")
    assert loaded.num_timesteps == 256


def test_a_loaded_model_is_alone_until_it_learns(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    PPO1("MlpPolicy", "CartPole-v1", timesteps_per_actorbatch=64).save(tmp_path / "model")
    monkeypatch.setenv("PMI_RANK", "0")
    monkeypatch.setenv("PMI_SIZE", "2")
    model = PPO1.load(tmp_path / "model", env="CartPole-v1")
    assert model.predict([0.0, 0.0, 0.0, 0.0])[0] in (0, 1)
    assert "mpi" not in [one.name for one in model.agent.plan.extensions]
    monkeypatch.delenv("PMI_RANK")  # as there is no other rank
    assert model.learn(64).num_timesteps == 64


@pytest.mark.parametrize(
    ("variables", "joins"),
    [
        ({}, False),
        ({"PMI_RANK": "1", "PMI_SIZE": "1"}, False),
        ({"PMI_RANK": "1", "PMI_SIZE": "2"}, True),
        ({"OMPI_COMM_WORLD_RANK": "0", "OMPI_COMM_WORLD_SIZE": "4"}, True),
        ({"PMIX_RANK": "0"}, True),
    ],
)
def test_mpi_joins_where_several_ranks_were_started(
    variables: dict[str, str], joins: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = PPO1("MlpPolicy", "CartPole-v1", _init_setup_model=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert model._plugins() == (["mpi"] if joins else [])
