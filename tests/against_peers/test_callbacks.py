"""Callbacks, evaluation and predictions, as in Stable-Baselines3."""

from __future__ import annotations

import numpy as np
import pytest
from against_peers.side_by_side import (
    BOX,
    DISCRETE,
    PARTS,
    SEEN,
    SEVERAL,
    SWITCHES,
    World,
    close,
    sb3,
)

import rlk_sb3

BOTH = (sb3, rlk_sb3)
ON = {"n_steps": 8, "batch_size": 8, "n_epochs": 1}
OFF = {"learning_starts": 5, "batch_size": 4, "buffer_size": 100}
MODELS = {
    "PPO": ("PPO", 1, ON),
    "PPO in two environments": ("PPO", 2, ON),
    "DQN": ("DQN", 1, {**OFF, "train_freq": 4}),
    "DQN in two environments": ("DQN", 2, {**OFF, "train_freq": 3}),
    "SAC": ("SAC", 1, OFF),
}


def worlds(library, kind, n_envs):
    actions = DISCRETE if kind == "DQN" else BOX
    functions = [lambda seed=seed: World(SEEN, actions, seed) for seed in range(n_envs)]
    return library.common.vec_env.VecMonitor(library.common.vec_env.DummyVecEnv(functions))


def unchanged(library, vector):
    """The vector in a VecNormalize that normalises nothing: its statistics can be saved."""
    made = library.common.vec_env.VecNormalize
    return made(vector, training=False, norm_obs=False, norm_reward=False)


def callbacks(library, kind, log, folder):
    """Every callback by name; a Note writes (name, event, calls, timesteps) into the log."""
    made = library.common.callbacks

    class Note(made.BaseCallback):
        def __init__(self, name, last=None):
            super().__init__()
            self.name, self.last = name, last

        def note(self, event):
            log.append((self.name, event, self.n_calls, self.num_timesteps))

        def _on_rollout_start(self):
            self.note("rollout starts")

        def _on_rollout_end(self):
            self.note("rollout ends")

        def _on_training_end(self):
            self.note("end")

        def _on_step(self):
            self.note("step")
            return self.last is None or self.num_timesteps < self.last

    evaluated = {"eval_freq": 6, "n_eval_episodes": 3, "verbose": 0}
    evaluation_world = unchanged(library, worlds(library, kind, 2))
    return {
        "a note": lambda: Note("a"),
        "a list": lambda: [Note("a"), Note("b")],
        "a stop": lambda: Note("a", last=20),
        "every 7 timesteps": lambda: made.EveryNTimesteps(7, Note("a")),
        "checkpoints": lambda: made.CheckpointCallback(
            7, str(folder), "p", save_replay_buffer=True, save_vecnormalize=True
        ),
        "the third episode": lambda: made.CallbackList(
            [Note("a"), made.StopTrainingOnMaxEpisodes(3)]
        ),
        "evaluations": lambda: made.EvalCallback(
            evaluation_world,
            callback_on_new_best=Note("best"),
            callback_after_eval=Note("after"),
            log_path=str(folder),
            best_model_save_path=str(folder / "best"),
            **evaluated,
        ),
        "a threshold": lambda: made.EvalCallback(
            evaluation_world,
            callback_on_new_best=made.StopTrainingOnRewardThreshold(-1e9, verbose=0),
            **evaluated,
        ),
        "no improvement": lambda: made.EvalCallback(
            evaluation_world,
            callback_after_eval=made.StopTrainingOnNoModelImprovement(1, 1),
            **evaluated,
        ),
    }


NAMES = tuple(callbacks(sb3, "PPO", [], None))


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(("kind", "n_envs", "settings"), MODELS.values(), ids=MODELS)
def test_callbacks_are_called_at_the_same_steps_and_write_the_same_files(
    tmp_path, kind, n_envs, settings, name
):
    seen = []
    for library in BOTH:
        folder, log = tmp_path / library.__name__, []
        folder.mkdir()
        vector = unchanged(library, worlds(library, kind, n_envs))
        model = getattr(library, kind)(
            "MlpPolicy", vector, learning_rate=0.0, policy_kwargs={"net_arch": [4]}, **settings
        )
        callback = callbacks(library, kind, log, folder)[name]()
        model.learn(24, callback=callback)
        files = sorted(str(one.relative_to(folder)) for one in folder.rglob("*") if one.is_file())
        arrays = {}
        if (folder / "evaluations.npz").exists():
            with np.load(folder / "evaluations.npz") as found:
                arrays = {key: found[key].tolist() for key in found}
        seen.append((log, files, arrays, model.num_timesteps))
    (log, files, arrays, timesteps), (own_log, own_files, own_arrays, own_timesteps) = seen
    assert (own_files, own_timesteps) == (files, timesteps)
    assert own_log == log
    assert own_arrays.keys() == arrays.keys()
    for key, values in arrays.items():
        close(own_arrays[key], values)


class Still:
    """Always the same action."""

    def predict(self, observation, state=None, episode_start=None, deterministic=True):
        return np.zeros((len(observation), 2), np.float32), state


@pytest.mark.parametrize("n_episodes", [1, 5, 7])
@pytest.mark.parametrize("n_envs", [1, 2, 3])
def test_the_same_episodes_of_several_environments_are_evaluated(n_envs, n_episodes):
    seen = []
    for library in BOTH:
        steps = []

        def keep(found, _, steps=steps):
            counts = found["episode_counts"].tolist()
            steps.append((found["i"], bool(found["done"]), counts))

        returns, lengths = library.common.evaluation.evaluate_policy(
            Still(),
            worlds(library, "SAC", n_envs),
            n_episodes,
            return_episode_rewards=True,
            callback=keep,
        )
        seen.append((steps, lengths, returns))
    assert seen[1][:2] == seen[0][:2]
    close(seen[1][2], seen[0][2])


PREDICTED = {
    "Discrete": ("PPO", DISCRETE, SEEN, {}),
    "Box": ("PPO", BOX, SEEN, {}),
    "MultiDiscrete": ("A2C", SEVERAL, SEEN, {}),
    "MultiBinary": ("A2C", SWITCHES, SEEN, {}),
    "Dict": ("PPO", BOX, PARTS, {}),
    "state-dependent exploration": ("PPO", BOX, SEEN, {"use_sde": True}),
    "DQN": ("DQN", DISCRETE, SEEN, {"buffer_size": 50}),
    "SAC": ("SAC", BOX, SEEN, {"buffer_size": 50}),
    "TD3 of a Dict": ("TD3", BOX, PARTS, {"buffer_size": 50}),
}


@pytest.mark.parametrize(
    ("kind", "actions", "observations", "settings"), PREDICTED.values(), ids=PREDICTED
)
def test_the_deterministic_actions_are_the_same_for_one_and_for_several(
    tmp_path, kind, actions, observations, settings
):
    policy = "MultiInputPolicy" if observations is PARTS else "MlpPolicy"
    world = World(observations, actions, 0)
    there = getattr(sb3, kind)(policy, world, seed=0, **settings)
    there.save(tmp_path / "there")
    here = getattr(rlk_sb3, kind).load(tmp_path / "there", env=world)
    several = [world.observation_space.sample() for _ in range(6)]
    batch = (
        {key: np.stack([one[key] for one in several]) for key in several[0]}
        if observations is PARTS
        else np.stack(several)
    )
    for seen in (several[0], batch):
        expected, found = (model.predict(seen, deterministic=True)[0] for model in (there, here))
        assert np.shape(found) == np.shape(expected)
        close(found, expected)
