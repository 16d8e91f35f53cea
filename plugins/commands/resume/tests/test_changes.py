"""What differs between two plans, and the files that tell it."""

from __future__ import annotations

import copy
from pathlib import Path

import attrs
import pytest

import rlk
from rlk.errors import RlkError
from rlk.planning.plan import Plan
from rlk.restoring.saved_plan import as_json, plan_text
from rlk_resume.changes import changed, write_changed_plan


@pytest.fixture
def plan(tmp_path: Path) -> Plan:
    with rlk.make("a2c", env="CartPole-v1", out=str(tmp_path), total_timesteps=50) as agent:
        return agent.plan


def test_settings_differ_whether_they_are_new_or_gone(plan: Plan, tmp_path: Path) -> None:
    one = as_json(plan)
    other = copy.deepcopy(one)
    other["env"]["name"] = "CartPole-v0"
    other["env"]["kwargs"]["sutton_barto_reward"] = True
    other["run"] |= {"n_envs": 3, "total_timesteps": 99}
    other["components"][0]["settings"]["gamma"] = 0.5
    assert sorted(changed(one, other)) == [
        "env CartPole-v1 to CartPole-v0",
        "env.sutton_barto_reward none to true",
        "gamma 0.99 to 0.5",
        "n_envs 1 to 3",
    ]
    assert "env.sutton_barto_reward true to none" in changed(other, one)
    assert changed(one, one) == []

    for timesteps in (9, 60, 61):
        (tmp_path / f"plan-from-{timesteps}.json").touch()
    write_changed_plan(plan, 60, one)  # as before, so nothing is told of this timestep any more
    assert [path.name for path in tmp_path.glob("plan-from-*")] == ["plan-from-9.json"]
    write_changed_plan(plan, 60, other)
    assert (tmp_path / "plan-from-60.json").read_text() == plan_text(one)


def test_components_are_named_by_what_one_types(plan: Plan) -> None:
    one = as_json(plan)
    with rlk.make("a2c", env="CartPole-v1", plugins=["evaluation"], optimiser="adam") as agent:
        told = changed(one, as_json(agent.plan))
    assert {"optimiser rmsprop to adam", "plugin evaluation none to evaluation"} <= {*told}


def test_a_plan_that_cannot_be_written_is_an_error(plan: Plan, tmp_path: Path) -> None:
    before = as_json(attrs.evolve(plan, n_envs=3))
    (tmp_path / "plan-from-60.json").mkdir()
    with pytest.raises(RlkError, match=r"plan-from-60\.json cannot be written: "):
        write_changed_plan(plan, 60, before)


def test_a_rank_without_the_folder_writes_no_plan(plan: Plan, tmp_path: Path) -> None:
    before = as_json(attrs.evolve(plan, n_envs=3))
    write_changed_plan(attrs.evolve(plan, out=None), 60, before)
    assert not list(tmp_path.rglob("plan-from-*"))
