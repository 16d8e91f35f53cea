"""Decisions before anything is built, and the backend on a single rank."""

from __future__ import annotations

import subprocess
import sys

import pytest

import rlk
from rlk.errors import PlanError
from rlk_dummy import DummyVecEnv
from rlk_mpi_workers import MpiWorkersVecEnv, host


def test_one_rank_steps_the_environments_itself_and_says_so():
    with rlk.make("ppo2", n_envs=2, vec_env="mpi-workers") as agent:
        assert isinstance(agent.run.env.unwrapped, DummyVecEnv)
        (note,) = [note for note in agent.plan.notes if note.startswith("mpi-workers")]
    assert "one rank, which steps the environments itself" in note and "mpirun -n 4" in note


def test_a_plugin_that_wraps_the_communicator_is_not_another_learner():
    with rlk.make("ppo2", vec_env="mpi-workers", plugins=["compile"]) as agent:
        assert agent.run.communicator.size == 1


@pytest.mark.parametrize("plugin", ["mpi", "torch-distributed"])
def test_several_learners_are_refused_with_the_reason(plugin):
    with pytest.raises(PlanError, match=f"with plugin '{plugin}' every rank is one"):
        rlk.make("ppo2", vec_env="mpi-workers", plugins=[plugin])


def test_two_plugins_that_let_ranks_train_together_are_refused():
    with pytest.raises(PlanError, match="plugins mpi and torch-distributed both let ranks train"):
        rlk.make("ppo2", plugins=["mpi", "torch-distributed"])


def test_without_other_ranks_there_is_nothing_to_be_made_and_nobody_to_host_for():
    with pytest.raises(RuntimeError, match="no other rank to host environments"):
        MpiWorkersVecEnv([lambda: None])
    with pytest.raises(RuntimeError, match="no rank 0 to host environments for"):
        host()


PLANS_AND_HOSTS = """
import sys
import rlk_mpi_workers.worker
from rlk.planning.resolve import resolve
from rlk.planning.spec import make_spec
from rlk.registry.kernel import default_kernel

given = {"vec_env": "mpi-workers", "out": "run", "verbose": 1, "plugins": ("evaluation",)}
resolve(default_kernel(), make_spec("ppo2", given)).hooks()
sys.exit("torch" in sys.modules)
"""


def test_who_plans_and_hosts_environments_imports_no_torch():
    assert subprocess.run([sys.executable, "-c", PLANS_AND_HOSTS]).returncode == 0
