"""What a rank gives back: MPI datatypes, environments, and the program's signal handlers."""

from __future__ import annotations

import math
import signal
from types import SimpleNamespace

import gymnasium as gym

from rlk_mpi_workers import worker
from rlk_mpi_workers.learner import Learner
from rlk_mpi_workers.worker import Share


class StandInMpi:
    """The few functions of `mpi4py.MPI` that describe memory; counts the datatypes in use."""

    BOTTOM = None

    def __init__(self):
        self.BYTE, self.kept = self, 0

    def Get_address(self, array):
        return array.ctypes.data

    def Create_hindexed(self, sizes, places):
        return self

    def Commit(self):
        self.kept += 1
        return self

    def Free(self):
        self.kept -= 1


def test_a_rank_gives_its_datatypes_back():
    mpi, env = StandInMpi(), gym.make("CartPole-v1")
    share = Share(0, (), [env])
    share.share(mpi, env.observation_space, env.action_space)
    assert mpi.kept == 4  # actions, a result for each of two slots, final observations
    share.close()
    assert mpi.kept == 0


def test_a_rank_whose_environments_were_never_stepped_closes_them():
    Share(0, (), [gym.make("CartPole-v1")]).close()


def test_what_an_environment_raises_when_it_is_closed_is_printed(capsys):
    class Stuck(gym.Env):
        def close(self):
            raise OSError("the door is stuck")

    Share(3, (), [Stuck()]).close()
    assert "environment 3 failed in close: OSError: the door is stuck" in capsys.readouterr().err


def test_a_rank_ignores_signals_while_it_hosts_and_then_has_the_programs_handlers(monkeypatch):
    numbers, meanwhile = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP), []

    class Serves:
        def __init__(self, *_):
            pass

        def serve(self):
            meanwhile.extend(map(signal.getsignal, numbers))
            for number in numbers:
                signal.raise_signal(number)

    guard = SimpleNamespace(ranks=SimpleNamespace(mpi=StandInMpi(), comm=None))
    monkeypatch.setattr(worker, "LAUNCH", SimpleNamespace(enter=lambda: guard))
    monkeypatch.setattr(worker, "Worker", Serves)
    before = list(map(signal.getsignal, numbers))
    assert worker.host() == 0
    assert list(map(signal.getsignal, numbers)) == before
    assert not set(before) & set(meanwhile)


def test_a_rank_may_take_as_long_to_close_as_the_most_patient_vector_allows():
    ranks = SimpleNamespace(mpi=SimpleNamespace(Status=lambda: None), comm=None, size=3)
    learner = Learner(SimpleNamespace(ranks=ranks))
    assert [learner.new_vector(seconds) for seconds in (5.0, 1.0)] == [0, 1]
    assert learner._timeout_seconds == 5.0
    learner.forget_vector(0)
    assert learner.new_vector(None) == 0 and learner._timeout_seconds == math.inf
