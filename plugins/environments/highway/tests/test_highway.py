"""highway-env's ids: made where it is installed, refused with what to type where not."""

import sys

import pytest

import rlk
from rlk.errors import PlanError
from rlk_highway.component import component


def test_it_answers_to_its_ids_alone():
    answer = component.load()
    tasks = ("highway", "highway-fast", "parking", "merge", "roundabout", "intersection")
    others = ("racetrack", "exit", "lane-keeping", "two-way", "u-turn")
    assert None not in [answer(f"{task}-v0") for task in (*tasks, *others)]
    assert answer("CartPole-v1") is None and answer("acme/parking-v0") is None


def test_without_it_the_message_says_how_to_install_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "highway_env", None)
    with pytest.raises(PlanError, match=r"'highway_env', .*pip install \"rlk-highway\[highway\]\""):
        component.load()("parking-v0")()


def test_parking_is_learnt_by_hindsight():
    pytest.importorskip("highway_env", reason="highway-env is an extra")
    small = {"batch_size": 8, "learning_starts": 8, "policy.layers": [8], "n_threads": 1, "seed": 1}
    with rlk.make("her", model="sac", env="parking-v0", **small) as agent:
        before = agent.run.parameters.flat.clone()
        agent.learn(24)
        assert not agent.run.parameters.flat.equal(before)
        batch = agent.run.storage.sample(64)
        assert (batch.reward <= 0).all() and len(set(batch.reward.tolist())) > 24
