"""The components of these callbacks."""

from __future__ import annotations

from rlk.component import Component
from rlk_callbacks.config import CheckpointConfig, EvaluationConfig
from rlk_callbacks.stop_config import (
    EveryNConfig,
    MaxEpisodesConfig,
    StopOnNoImprovementConfig,
    StopOnRewardConfig,
)

checkpoint = Component(
    name="checkpoint",
    factory="rlk_callbacks.checkpoint:Checkpoints",
    summary="saves model.zip and checkpoints to resume from, at the end and at an interval",
    known_as=("CheckpointCallback",),
    config=CheckpointConfig,
    instead_of={
        "save_freq=-1": "checkpoints are at the start and the end alone unless checkpoint.every is "
        "set. Leave it out.",
        "save_freq": "every={value}",
        "save_replay_buffer": "checkpoints hold the replay unless checkpoint.replay is false. "
        "Leave it out.",
    },
    autostart="run",
)

evaluation = Component(
    name="evaluation",
    factory="rlk_callbacks.evaluation:EvaluationCallback",
    summary="evaluates in separate environments, saves best_model.zip, can stop at a return",
    known_as=("EvalCallback",),
    config=EvaluationConfig,
    instead_of={
        "eval_freq=-1": "there is no evaluation unless you ask for one. Leave it out.",
        "eval_freq": "every={value}",
        "eval_episodes": "episodes={value}",
        "n_eval_episodes": "episodes={value}",
        "n_eval_envs": "n_envs={value}",
        "eval_env_kwargs": "env_kwargs={value}",
    },
)

render = Component(
    name="render",
    factory="rlk_callbacks.render:Render",
    summary="shows training in a window",
)

summary = Component(
    name="summary",
    factory="rlk_callbacks.summary:Summary",
    summary="prints the parts of a run and, at its end, its files and what to type next",
    autostart="verbose",
)

progress_bar = Component(
    name="progress-bar",
    factory="rlk_callbacks.progress_bar:ProgressBar",
    instead_of={"progress": ""},
    summary="shows timesteps, speed, mean return and time left, on a terminal or in a notebook",
    autostart="terminal",
)

stop_on_reward = Component(
    name="stop-on-reward",
    factory="rlk_callbacks.stop:StopOnReward",
    summary="stops training when an evaluation reaches a mean return",
    known_as=("StopTrainingOnRewardThreshold",),
    config=StopOnRewardConfig,
)

stop_on_no_improvement = Component(
    name="stop-on-no-improvement",
    factory="rlk_callbacks.stop:StopOnNoImprovement",
    summary="stops training after several evaluations in a row without a new best one",
    known_as=("StopTrainingOnNoModelImprovement",),
    config=StopOnNoImprovementConfig,
)

max_episodes = Component(
    name="max-episodes",
    factory="rlk_callbacks.stop:MaxEpisodes",
    summary="stops training after a number of episodes",
    known_as=("StopTrainingOnMaxEpisodes",),
    config=MaxEpisodesConfig,
)

every_n = Component(
    name="every-n",
    factory="rlk_callbacks.every_n:EveryN",
    summary="calls your function every n timesteps",
    config=EveryNConfig,
)
