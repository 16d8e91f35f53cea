"""What differs between two plans, and the files that tell it."""

from __future__ import annotations

import copy
from pathlib import Path

import rlk
from rlk.planning.saved_plan import as_json, plan_text
from rlk_resume.changes import changed, write_changed_plan


def test_settings_differ_whether_they_are_new_or_gone(tmp_path: Path) -> None:
    with rlk.make("a2c", env="CartPole-v1", out=str(tmp_path), total_timesteps=50) as agent:
        plan = agent.plan
    one = as_json(plan)
    other = copy.deepcopy(one)
    other["env"]["kwargs"]["sutton_barto_reward"] = True
    other["run"] |= {"n_envs": 3, "total_timesteps": 99}
    other["components"][0]["settings"]["gamma"] = 0.5
    assert sorted(changed(one, other)) == [
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
