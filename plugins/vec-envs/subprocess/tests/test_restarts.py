"""With `restart_workers`, a worker that is lost is replaced and training goes on."""

from __future__ import annotations

import os
import signal
import threading
import time

import gymnasium as gym
import numpy as np
import pytest

import rlk
from rlk.errors import EnvironmentFailed
from rlk_subprocess.restarts import TAG
from rlk_testing.environments import Doomed, Fate, Walk


def steps(fate, at=1, n=3):
    """Actions for n environments, one of which causes a failure at a step."""
    chosen = np.zeros(n, np.int64)
    chosen[at] = fate
    return chosen


def three(make):
    """Three environments: 0 and 1 in the first worker, 2 in the second."""
    vector = make([Doomed] * 3, restart_workers=True, timeout_seconds=1.0)
    vector.reset(seed=[10, 20, 30])
    return vector


def test_restarted_workers_are_forked_by_a_server_too(make, zoo):
    vector = make([Doomed] * 2, restart_workers=True, start_method="forkserver")
    vector.reset(seed=0)
    before = vector.pids
    with pytest.warns(RuntimeWarning, match="environment 0 is lost"):
        truncated = vector.step(steps(Fate.EXIT, at=0, n=2))[3]
    assert truncated.tolist() == [True, False]
    assert vector.pids[0] != before[0] and vector.pids[1] == before[1]
    assert zoo.gone(before[:1], 0.0)
    vector.step(steps(Fate.GO, n=2))
    open_ends = [worker.channel.socket for worker in vector._pool.workers]
    assert {*vector._pool._launcher._learners} == {*open_ends}


@pytest.mark.parametrize(
    ("fate", "said"),
    [
        (Fate.KILL, "environments 0 to 1 are lost: worker .*SIGKILL"),
        (Fate.SYS_EXIT, "exit code 5"),
        (Fate.HANG, "environment 1 is in step .*without an answer for 1 s"),
        (Fate.RAISE, "environment 1 failed in step: OSError: the simulator is gone"),
    ],
)
def test_the_broken_episodes_end_as_truncated_and_the_others_go_on(make, fate, said):
    vector = three(make)
    vector.step(steps(Fate.GO))
    before = vector.step(steps(Fate.GO))[0].copy()
    with pytest.warns(RuntimeWarning, match=said):
        observation, reward, terminated, truncated, infos = vector.step(steps(fate))
    assert before.ravel().tolist() == [2.0, 2.0, 2.0]
    assert observation.ravel().tolist() == [0.0, 0.0, 3.0]
    assert reward.tolist() == [0.0, 0.0, 1.0]
    assert terminated.tolist() == [False] * 3
    assert truncated.tolist() == infos["_final_obs"].tolist() == [True, True, False]
    assert [infos["final_obs"][i].tolist() for i in (0, 1)] == [[2.0], [2.0]]
    assert infos["final_info"]["worker_restarted"].tolist() == [True, True, False]
    assert vector.metrics() == {TAG: 1.0}
    observation, _, _, truncated, infos = vector.step(steps(Fate.GO))
    assert observation.ravel().tolist() == [1.0, 1.0, 4.0] and infos == {}


def test_what_other_workers_answer_in_that_step_is_kept(make):
    vector = three(make)
    with pytest.warns(RuntimeWarning, match="environment 2 is lost"):
        infos = vector.step(np.array([Fate.END, Fate.GO, Fate.KILL]))[4]
    assert infos["_final_info"].tolist() == [True, False, True]
    assert infos["final_info"]["steps"].tolist() == [1, 0, 0]
    assert infos["final_info"]["worker_restarted"].tolist() == [False, False, True]


def test_a_worker_behind_another_one_says_where_it_hangs(make):
    vector = three(make)
    with pytest.warns(RuntimeWarning, match="environment 2 is in step .*without an answer for 1 s"):
        truncated = vector.step(steps(Fate.HANG, at=2))[3]
    assert truncated.tolist() == [False, False, True]


def test_a_lost_step_does_not_terminate_though_the_one_two_before_it_did(make, zoo):
    vector = three(make)
    assert vector.step(steps(Fate.END))[2].tolist() == [False, True, False]
    vector.step(steps(Fate.GO))
    os.kill(vector.pids[0], signal.SIGKILL)
    assert zoo.gone(vector.pids[:1])
    with pytest.warns(RuntimeWarning, match="takes its place"):
        _, _, terminated, truncated, _ = vector.step(steps(Fate.GO))
    assert terminated.tolist() == [False] * 3
    assert truncated.tolist() == [True, True, False]


def test_it_is_counted_for_every_worker_and_every_time(make):
    vector = three(make)
    for fates in ([Fate.KILL, Fate.GO, Fate.KILL], [0, 0, 0], [Fate.GO, Fate.KILL, Fate.GO]):
        if any(fates):
            with pytest.warns(RuntimeWarning, match="takes its place"):
                vector.step(np.array(fates))
        else:
            vector.step(np.array(fates))
    assert vector.metrics() == {TAG: 3.0}


def test_a_worker_that_dies_between_two_steps_is_replaced_in_the_next(make, zoo):
    vector = three(make)
    os.kill(vector.pids[1], signal.SIGKILL)
    assert zoo.gone(vector.pids[1:])
    with pytest.warns(RuntimeWarning, match="environment 2 is lost"):
        truncated = vector.step(steps(Fate.GO))[3]
    assert truncated.tolist() == [False, False, True]


class Levels(Doomed):
    """Its first observation is its level."""

    level = 0

    def reset(self, **keywords):
        observation, info = super().reset(**keywords)
        return observation + self.level, info


def test_attributes_that_were_set_are_set_again_before_the_reset(make):
    vector = make([Levels] * 4, restart_workers=True)
    vector.reset(seed=0)
    vector.set_attr("level", 3)
    vector.set_attr("level", [5, 6], indices=iter([1, 2]))
    vector.set_attr("mark", "first", indices=0)
    with pytest.warns(RuntimeWarning):
        observation = vector.step(steps(Fate.KILL, n=4))[0]
    assert observation.ravel().tolist() == [3.0, 5.0, 1.0, 1.0]
    assert vector.get_attr("level") == (3, 5, 6, 3) and vector.get_attr("mark", indices=0) == (
        "first",
    )


def test_one_that_is_lost_again_at_once_ends_the_run(make, zoo):
    vector = three(make)
    pids = vector.pids
    with pytest.warns(RuntimeWarning):
        vector.step(steps(Fate.KILL))
    with pytest.raises(EnvironmentFailed, match=r"SIGKILL(?s:.*)taken the place of another one"):
        vector.step(steps(Fate.KILL))
    assert zoo.gone([*pids, *vector.pids], 0.0)


def test_one_that_cannot_be_made_again_ends_the_run(make, tmp_path, zoo):
    gone = tmp_path / "simulator"
    gone.touch()

    def connect():
        if not gone.exists():
            raise ConnectionError("no simulator")
        return Doomed()

    vector = make([connect] * 2, restart_workers=True)
    vector.reset()
    gone.unlink()
    message = "Another could not take its place: environment 0 .*ConnectionError: no simulator"
    with pytest.warns(RuntimeWarning), pytest.raises(EnvironmentFailed, match=message):
        vector.step(steps(Fate.KILL, at=0, n=2))
    assert zoo.gone(vector.pids, 0.0)


@pytest.mark.parametrize("at", [0, 2])
def test_one_that_has_other_spaces_when_it_is_made_again_ends_the_run(make, tmp_path, at):
    changed = tmp_path / "changed"

    def connect():
        env = Doomed()
        if changed.exists():
            env.observation_space = gym.spaces.Box(0.0, 1.0, (7,), np.float32)
        return env

    vector = make([connect] * 3, restart_workers=True)
    vector.reset()
    changed.touch()
    message = f"could not take its place: environment {at} has the observation_space .*7"
    with pytest.warns(RuntimeWarning), pytest.raises(EnvironmentFailed, match=message):
        vector.step(steps(Fate.KILL, at=at))


@pytest.mark.parametrize("when", ["reset", "set_attr of level"])
def test_one_that_does_not_start_when_it_is_made_again_ends_the_run(make, tmp_path, when):
    broken = tmp_path / "broken"

    class Breaks(Doomed):
        def reset(self, **keywords):
            self.check("reset")
            return super().reset(**keywords)

        def __setattr__(self, name, value):
            super().__setattr__(name, value)
            self.check(f"set_attr of {name}")

        def check(self, what):
            if broken.exists() and what == when:
                raise ConnectionError("no simulator")

    vector = make([Breaks] * 2, restart_workers=True)
    vector.reset()
    vector.set_attr("level", 3)
    broken.touch()
    message = f"Another could not take its place: environment 0 failed in {when}: ConnectionError"
    with pytest.warns(RuntimeWarning), pytest.raises(EnvironmentFailed, match=message):
        vector.step(steps(Fate.KILL, at=0, n=2))


class SlowAgain(Doomed):
    """The first that finds the file takes long to make, and removes it."""

    def __init__(self, file, seconds=1.2):
        super().__init__()
        if file.exists():
            file.unlink()
            time.sleep(seconds)


def test_one_whose_environments_take_long_to_make_again_is_waited_for(make, tmp_path):
    file = tmp_path / "died"
    vector = make([lambda: SlowAgain(file)] * 2, restart_workers=True)
    vector.reset(seed=0)
    file.touch()
    with pytest.warns(RuntimeWarning, match="lost") as warned:  # both workers at the same time
        truncated = vector.step(np.full(2, Fate.KILL))[3]
    assert truncated.tolist() == [True, True]
    assert sum(warning.category is RuntimeWarning for warning in warned) == 2
    assert vector.step(steps(Fate.GO, n=2))[0].ravel().tolist() == [1.0, 1.0]


def test_one_that_hangs_where_it_is_made_again_is_said_to_do_so(make, tmp_path):
    file = tmp_path / "died"
    vector = make([lambda: SlowAgain(file, 60.0)], restart_workers=True, timeout_seconds=1.0)
    vector.reset(seed=0)
    file.touch()
    message = (
        r"could not take its place: environment 0 is being made \(worker \d+\), without an answer"
    )
    with pytest.warns(RuntimeWarning), pytest.raises(EnvironmentFailed, match=message):
        vector.step(steps(Fate.KILL, at=0, n=1))


@pytest.mark.parametrize("answers", [0, 1, 2])
def test_ctrl_c_while_a_worker_is_replaced_is_not_the_end(make, monkeypatch, answers):
    vector = make([Doomed] * 2, restart_workers=True)
    vector.reset(seed=0)
    receive, first, of_new = vector._pool.receive, list(vector._pool.workers), []

    def interrupted(worker, *, alone=False):
        of_new.extend([worker] * (worker not in first))
        if worker not in first and len(of_new) == answers + 1:
            raise KeyboardInterrupt
        return receive(worker, alone=alone)

    monkeypatch.setattr(vector._pool, "receive", interrupted)
    with pytest.warns(RuntimeWarning), pytest.raises(KeyboardInterrupt):
        vector.step(steps(Fate.KILL, n=2))
    with pytest.warns(RuntimeWarning, match="takes its place"):
        assert vector.step_wait()[3].tolist() == [False, True]
    assert vector.step(steps(Fate.GO, n=2))[0].ravel().tolist() == [2.0, 1.0]


def test_a_result_that_does_not_fit_is_no_reason_to_try_again(make):
    from rlk_testing.environments import Misfit

    vector = make([lambda: Misfit("reward")], restart_workers=True)
    vector.reset(seed=0)
    with pytest.raises(EnvironmentFailed, match="wrong reward"):
        for _ in range(3):
            vector.step(np.zeros(1, np.int64))


class Secret(Doomed):
    """The info of its last step holds what the action names, which the learner cannot get."""

    class Unreadable(Exception):
        def __init__(self, code, where):
            super().__init__(f"{code} at {where}")

    def step(self, action):
        observation, reward, _, truncated, info = super().step(Fate.GO)
        held = {1: threading.Lock(), 2: self.Unreadable(3, "gripper")}
        if action:
            info = {"held": held[int(action)]}
        return observation, reward, bool(action), truncated, info


@pytest.mark.parametrize(
    ("held", "said"), [(1, "cannot be sent to the learner"), (2, "cannot be unpickled")]
)
def test_an_info_that_does_not_arrive_is_an_error_and_the_worker_that_gave_it_goes_on(
    make, held, said
):
    vector = make([Secret] * 2, restart_workers=True)
    vector.reset(seed=0)
    before = vector.pids
    with pytest.raises(EnvironmentFailed, match=said):
        vector.step(steps(held, at=0, n=2))
    assert vector.pids == before and vector.metrics() == {TAG: 0.0}
    vector.reset()
    assert vector.step(steps(Fate.GO, n=2))[0].ravel().tolist() == [1.0, 1.0]


def test_numbers_that_are_kept_are_zero_in_a_lost_step_and_whole_infos_are_those_of_the_reset(make):
    for info_keys in (("steps",), None):
        vector = make([Doomed] * 2, restart_workers=True, info_keys=info_keys)
        vector.reset(seed=0)
        for _ in range(2):
            vector.step(steps(Fate.GO, n=2))
        with pytest.warns(RuntimeWarning):
            infos = vector.step(steps(Fate.KILL, at=0, n=2))[4]
        if info_keys:
            assert infos["kept"]["info.steps"].tolist() == [0.0, 3.0]
        else:
            assert infos["_steps"].tolist() == [False, True]


class Fragile(Walk):
    """A walk whose process dies at its twelfth step, if it is the first with this file to do so."""

    def __init__(self, note):
        super().__init__()
        self.note, self.ever = note, 0

    def step(self, action):
        self.ever += 1
        if self.ever == 12 and self._is_first():
            os._exit(3)
        return super().step(action)

    def _is_first(self):
        """Whether no other process has created the file; two may try at the same time."""
        try:
            os.close(os.open(self.note, os.O_CREAT | os.O_EXCL))
        except FileExistsError:
            return False
        return True


def test_a_training_goes_on_and_logs_how_often(tmp_path):
    rows = []

    class Rows:
        @rlk.hookimpl
        def rlk_write_row(self, row):
            rows.append(dict(row))

    settings = {"n_workers": 2, "start_method": "fork", "restart_workers": True}
    with rlk.make(
        "ppo2",
        env=lambda: Fragile(str(tmp_path / "died")),
        n_envs=2,
        vec_env="subprocess",
        n_steps=8,
        plugins=[Rows()],
        n_threads=1,
        log_interval=1,
        **{f"vec_env.{key}": value for key, value in settings.items()},
    ) as agent:
        with pytest.warns(RuntimeWarning, match="exit code 3"):
            agent.learn(64)
        assert agent.num_timesteps == 64
    assert rows[0][TAG] == 0.0 and rows[-1][TAG] == 1.0
