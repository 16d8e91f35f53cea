"""What planning knows: the ids of Atari games, how to install them, and their preprocessing."""

from __future__ import annotations

from rlk.component import Component
from rlk_atari.config import AtariConfig
from rlk_gymnasium.ids import ids

#: What to type if the emulator or OpenCV is missing.
INSTALL = 'pip install "rlk-atari[atari]"'

ale = Component(
    name="ale",
    factory=ids("ALE/*", "*NoFrameskip-v[04]", registered_by="rlk_atari.games", install=INSTALL),
    summary="ALE/Pong-v5 and other Atari games, emulated by ale-py",
)
atari = Component(
    name="atari",
    factory="rlk_atari.deepmind:AtariGame",
    summary="DeepMind's preprocessing of Atari games: skipped frames, 84x84 in grey, rewards of 1",
    known_as=("AtariWrapper",),
    config=AtariConfig,
    instead_of={
        "frame_skip": "skip={value}",
        "screen_size": "width={value},height={value}",
        "terminal_on_life_loss": "episode_life={value}",
        "clip_reward": "clip_rewards={value}",
    },
    keeps_returns=True,
)
