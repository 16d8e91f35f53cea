"""Ids of gymnasium-robotics: made where it is installed, refused with what to type if not."""

import sys

import pytest

import rlk
from rlk.errors import PlanError
from rlk_robotics.component import component


def test_it_answers_to_its_ids_alone():
    answer = component.load()
    hands = ("HandReach-v3", "HandManipulateBlock-v1", "AdroitHandDoor-v1")
    others = ("FetchReach-v4", "PointMaze_UMaze-v3", "AntMaze_UMaze-v5", "FrankaKitchen-v1")
    assert None not in [answer(name) for name in (*hands, *others)]
    assert answer("CartPole-v1") is None and answer("Ant-v5") is None


def test_without_it_the_message_says_how_to_install_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "gymnasium_robotics", None)
    with pytest.raises(
        PlanError, match=r"'gymnasium_robotics', .*pip install \"rlk-robotics\[robotics\]\""
    ):
        component.load()("FetchReach-v4")()


def test_reaching_is_learnt_by_hindsight():
    pytest.importorskip("gymnasium_robotics", reason="gymnasium-robotics is an extra")
    small = {"batch_size": 8, "learning_starts": 8, "policy.layers": [8], "n_threads": 1, "seed": 1}
    with rlk.make("her", model="sac", env="FetchReach-v4", **small) as agent:
        before = agent.run.parameters.flat.clone()
        agent.learn(60)
        assert not agent.run.parameters.flat.equal(before)
        assert set(agent.run.storage.sample(64).reward.tolist()) <= {0.0, -1.0}
