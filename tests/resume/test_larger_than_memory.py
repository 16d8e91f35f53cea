"""A replay that is larger than memory: collected, saved, loaded, and another run's start."""

from __future__ import annotations

import sys

import pytest

PROGRAM = """
import gc, re, resource
from pathlib import Path
import gymnasium as gym, numpy as np
import rlk
from rlk_zip import tensors

MIB = 1 << 20
tensors.PART_BYTES = 4 * MIB  # all as if memory were sixteen times as large
MAPPED = {"replay.mapped": "maps"}


class Screens(gym.Env):
    observation_space = gym.spaces.Box(0, 255, (256, 256, 1), np.uint8)
    action_space = gym.spaces.Discrete(2)
    shown = 0

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        return self.show(), {}

    def show(self):
        self.shown += 1
        return np.full((256, 256, 1), self.shown % 251, np.uint8)

    def step(self, action):
        return self.show(), 1.0, False, self.shown % 50 == 0, {}


def made(**given):
    small = {"policy.layers": [], "dueling": False, "learning_starts": 10**6, "n_threads": 1}
    return rlk.make("dqn", **{"env": Screens, "seed": 1, **small, **MAPPED, **given})


def middle(agent):
    return agent.run.storage.state_dict()["observations"][0][500, 0].mean()


first = made(buffer_size=1500)
first.learn(20)
used = int(re.search(r"VmData:\\s+(\\d+) kB", Path("/proc/self/status").read_text())[1]) * 1024
resource.setrlimit(resource.RLIMIT_DATA, (used + 84 * MIB, -1))
first.learn(1500, reset_num_timesteps=False)
checkpoint, replay = first.save_checkpoint("checkpoint"), first.save_replay_buffer("replay")
before = middle(first)
first.close()
del first
gc.collect()

loaded = rlk.load(checkpoint, env=Screens, **MAPPED)
print(loaded.differs, len(loaded.run.storage), middle(loaded) == before)
loaded.close()
del loaded
gc.collect()

other = made(buffer_size=1600)
other.load_replay_buffer(replay)
print(len(other.run.storage), checkpoint.stat().st_size > 90 * MIB)
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="there is no /proc")
def test_no_more_of_it_is_in_memory_than_is_in_use(rlk_forks, tmp_path):
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)
    with rlk_forks.start(program, cwd=tmp_path) as running:
        printed, _ = running.communicate()
    assert running.returncode == 0, printed
    assert printed.splitlines()[-2:] == ["[] 1500 True", "1500 True"]
