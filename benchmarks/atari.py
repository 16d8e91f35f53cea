"""Time DeepMind's preprocessing of Atari games in rlk and in Stable-Baselines3.

`python benchmarks/atari.py [GAME …] [--repetitions 40]` plays the same games with both in turn, in
one process, and prints processor time per step of four frames and the medians of the ratios of the
turns: for one game, and for a vector of eight with stacks of four frames, as agents get them: with
a monitor, and with the infos of every game. Gymnasium checks the steps of neither. Both emulate the
same frames; the second ratio leaves out the time of the emulator.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable
from typing import Any

import gymnasium as gym
import numpy as np
from arguments import positive

STEPS, FRAMES, N_ENVS, STACK = 100, 4, 8, 4
UNCHECKED = {"disable_env_checker": True}  # as rlk makes games
Plays = Callable[[int], None]  # so many steps


def one(env: Any) -> Plays:
    """Random actions in a game."""
    actions = np.random.default_rng(0)
    env.reset(seed=0)

    def play(steps: int) -> None:
        for action in actions.integers(env.action_space.n, size=steps).tolist():
            _, _, terminated, truncated, _ = env.step(action)
            if terminated or truncated:
                env.reset()

    return play


def emulated(env: Any) -> Plays:
    """Emulate the frames alone, without reading the screen."""
    actions = np.random.default_rng(0)
    env.reset(seed=0)
    game = env.unwrapped

    def play(steps: int) -> None:
        for action in actions.choice(game._action_set, size=steps).tolist():
            for _ in range(FRAMES):
                game.ale.act(action)
            if game.ale.game_over():
                env.reset()

    return play


def several(env: Any, n_actions: int) -> Plays:
    """Random actions in a vector of games."""
    actions = np.random.default_rng(0)
    env.reset()

    def play(steps: int) -> None:
        for action in actions.integers(n_actions, size=(steps, N_ENVS)):
            env.step(action)

    return play


def players(game: str) -> dict[str, tuple[Plays, Plays, int]]:
    """Name -> rlk's player, the peer's, and how many steps of a game one of their steps makes."""
    from stable_baselines3.common.atari_wrappers import AtariWrapper
    from stable_baselines3.common.env_util import make_atari_env
    from stable_baselines3.common.vec_env import VecFrameStack

    from rlk_atari import AtariGame
    from rlk_atari.component import ale
    from rlk_atari.config import AtariConfig
    from rlk_dummy import DummyVecEnv
    from rlk_wrappers import VectorMonitor

    env_id = f"{game}NoFrameskip-v4"
    make: Any = ale.load()(env_id)
    stacked = AtariConfig(frame_stack=True)
    fns = [lambda: AtariGame(make(), stacked)] * N_ENVS
    ours = VectorMonitor(DummyVecEnv(fns, info_keys=None))
    games = make_atari_env(env_id, n_envs=N_ENVS, seed=0, env_kwargs=UNCHECKED)
    theirs = VecFrameStack(games, STACK)
    n = int(theirs.action_space.n)
    alone = one(AtariGame(make())), one(AtariWrapper(gym.make(env_id, **UNCHECKED)))
    return {
        "one game": (*alone, 1),
        "eight, stacked": (several(ours, n), several(theirs, n), N_ENVS),
    }


def microseconds(play: Plays, steps: int, games: int) -> float:
    """Processor time of a step of a game."""
    began = time.process_time()
    play(steps)
    return 1e6 * (time.process_time() - began) / (steps * games)


def compare(what: str, repetitions: int, bare: Plays, played: tuple[Plays, Plays, int]) -> None:
    """Take turns, and print medians."""
    *plays, games = played
    steps, turns = STEPS // games, []
    for _ in range(repetitions):
        emulator = microseconds(bare, STEPS, 1)
        turns.append((emulator, *(microseconds(play, steps, games) for play in plays)))
    emulator, rlk, sb3 = (statistics.median(column) for column in zip(*turns, strict=True))
    whole = statistics.median(theirs / ours for _, ours, theirs in turns)
    besides = statistics.median((theirs - bare) / (ours - bare) for bare, ours, theirs in turns)
    print(
        f"{what:<26}emulator {emulator:.0f} µs, rlk {rlk:.0f} µs, sb3 {sb3:.0f} µs; sb3 / rlk: "
        f"median {whole:.2f}, without the emulator {besides:.2f}",
        flush=True,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("games", nargs="*", default=["Pong", "Breakout"], metavar="GAME")
    parser.add_argument("--repetitions", type=positive, default=40)
    arguments = parser.parse_args()
    for game in arguments.games:
        for what, played in players(game).items():
            bare = emulated(gym.make(f"{game}NoFrameskip-v4"))
            compare(f"{game}, {what}", arguments.repetitions, bare, played)


if __name__ == "__main__":
    main()
