"""If the state of an environment cannot be saved, a resumed run says what will differ."""

from __future__ import annotations

import pytest
from resume.runs import Case, N, ended, killed, state

OPAQUE = """
import gymnasium as gym


class Engine:
    '''Stands for a physics engine, whose state nobody can see.'''


class Opaque(gym.make("CartPole-v1").unwrapped.__class__):
    def __init__(self):
        super().__init__()
        self.engine = Engine()
"""
BEGINS = {"Opaque": "./opaque.py:Opaque", "LunarLander": "LunarLander-v3"}


@pytest.mark.parametrize("env", BEGINS)
def test_it_is_reported_and_everything_else_continues(env, tmp_path, rlk_forks):
    if env == "LunarLander":
        pytest.importorskip("Box2D")
    (tmp_path / "opaque.py").write_text(OPAQUE)
    arguments = BEGINS[env]
    again = ("--env", arguments) if env == "Opaque" else ()
    out = tmp_path / "run"
    killed(rlk_forks, Case("dqn", arguments), out, N + N // 2)
    before = state(out, N)
    assert "environments" not in before["manifest"]["contents"]
    assert {"model", "run", "storage"} <= set(before["manifest"]["contents"])

    printed = ended(rlk_forks, "resume", out, "--timesteps", 2 * N, *again, cwd=tmp_path)
    name = arguments if env == "Opaque" else "LunarLander-v3"
    assert f"at {N} timesteps\n" in printed and f"done: {N} timesteps in" in printed
    (told,) = [line for line in printed.splitlines() if "not as before" in line]
    assert told == f"  not as before: the checkpoint has no state of {name}: episodes start anew"

    after = state(out, 2 * N)
    assert after["manifest"]["timesteps"] == 2 * N
    assert after["clock"]["updates"] > before["clock"]["updates"]
    # The replay continues, and episodes played after the checkpoint are counted nowhere.
    assert after["storage"]["time"] == before["storage"]["time"] + N // 2
    episodes = after["clock"]["episodes"]
    assert episodes > before["clock"]["episodes"]
    assert len((out / "monitor.csv").read_text().splitlines()) == 2 + episodes
