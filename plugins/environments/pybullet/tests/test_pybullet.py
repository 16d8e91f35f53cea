"""PyBullet's ids: made where the simulator is installed, refused with what to type where not."""

import sys

import pytest

import rlk
from rlk.errors import PlanError
from rlk_pybullet.component import component


def test_it_answers_to_pybullets_ids_alone():
    answer = component.load()
    assert answer("HalfCheetahBulletEnv-v0") is not None
    assert answer("CartPole-v1") is None and answer("HalfCheetah-v5") is None


def test_without_the_simulator_the_message_says_how_to_install_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "pybullet_envs_gymnasium", None)
    with pytest.raises(
        PlanError, match=r"'pybullet_envs_gymnasium', .*pip install \"rlk-pybullet\[pybullet\]\""
    ):
        rlk.make("ppo2", env="HopperBulletEnv-v0")


def test_an_id_alone_trains():
    pytest.importorskip("pybullet_envs_gymnasium", reason="PyBullet is an extra")
    settings = {"n_envs": 2, "n_steps": 8, "policy.layers": [8], "n_threads": 1, "seed": 1}
    with rlk.make("ppo2", env="HopperBulletEnv-v0", **settings) as agent:
        before = agent.run.parameters.flat.clone()
        assert not agent.learn(32).run.parameters.flat.equal(before)
