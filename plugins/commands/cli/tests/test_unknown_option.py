"""What to type instead of an option or a command of another library, or one that is repeated."""

from __future__ import annotations

import pytest

from rlk_testing.tools.command_line import ended


@pytest.mark.parametrize(
    ("typed", "says"),
    [
        ("run --algo dqn --verbose 0", "No such option '--verbose'. Type: --quiet\n"),
        ("run --algo dqn --verbose=0", "Type: --quiet\n"),
        ("run --algo dqn --verbose 2", "Type: -v\n"),
        ("resume runs/mine --verbose 1", "Type: -v\n"),
        ("tune --algo dqn --verbose 0", "Type: --quiet\n"),
        ("evaluate runs/mine --verbose 1", "Type: --set verbose=1\n"),
        ("run --algo dqn --num-env 4", "Type: --n-envs 4\n"),
        ("run --algo dqn --num_envs 4", "Type: --n-envs 4\n"),
        ("run --algo dqn --set num_env=4", "the number of environments is n_envs=… (--n-envs …)"),
        ("run --algo dqn --steps 1000", "Type: --timesteps 1000\n"),
        ("run --algo dqn --lr 1e-3", "Type: --set learning_rate=1e-3\n"),
        ("run --algo ddpg --lr 1e-3", "Type: --set actor_lr=0.001 --set critic_lr=0.001\n"),
        ("run --algo trpo --n-steps 128", "Use --set timesteps_per_batch=N, for all envir"),
        ("run --algo trpo --n-critic-updates 20", "Type: --set vf_iters=20\n"),
        ("run --algo dqn --n-steps 3", "Type: --plugin n-step:n_steps=3\n"),
        ("run --algo ppo --alpha 0.9", "No such option '--alpha'.\n"),
        ("run --algo ppo2 --optimiser rmsprop --alpha 0.9", "Type: --set optimiser.alpha=0.9\n"),
        ("run --optimiser rmsprop --algo no-such --layers 3", "Type: --set policy.layers=3\n"),
        ("run --algo her --set model=sac --tau 0.1", "Type: --set tau=0.1\n"),
        ("run --algo ddpg --noise-type normal --noise-std 0.2", "normal-noise:sigma=0.2\n"),
        ("run --algo a2c --use-sde", "Type: --plugin gsde\n"),
        ("run --algo a2c --use-sde --explain", "Type: --plugin gsde\n"),
        ("run --algo sac --optimize-memory-usage", "every observation once, always. Leave it o"),
        ("run --algo dqn --save-replay-buffer", "checkpoint.replay is false. Leave it out."),
        ("run --algo ppo --policy-kwargs dict(net_arch=[8])", "Type: --set 'policy.layers=[8]'\n"),
        ("run --algo ppo -params n_steps:8 gamma:-1 -P", "--set n_steps=8 --set gamma=-1\n"),
        ("run --algo ppo --hyperparams n_steps:8", "Type: --set n_steps=8\n"),
        ("run --algo ppo --hyperparams", "Type: --set NAME=VALUE\n"),
        ("run --algo ppo --env-kwargs g:9.0 x:2", "Type: --set env.g=9.0 --set env.x=2\n"),
        (
            "run --algo ppo --eval-env-kwargs g:9.0",
            "--plugin 'evaluation:env_kwargs={\"g\" = 9.0}'\n",
        ),
        ("run --algo ppo --n-eval-envs 10", "Type: --plugin evaluation:n_envs=10\n"),
        (
            "run --algo ppo -tags a b",
            "No such option '-tags'. What to type for Weights & Biases is",
        ),
        ("run --algo ppo --track", "is in the README of rlk-loggers"),
        ("run --algo ppo -tb there", "No such option '-tb'. Type: --plugin tensorboard\n"),
        ("run --algo ppo -P", "Type: --plugin progress-bar\n"),
        ("run --gym-packages minigrid --env Maze-v0", "Type: --env minigrid:Maze-v0\n"),
        ("run --gym-packages minigrid", "Type: --env minigrid:ID\n"),
        ("run --algo ppo --log-folder logs", "Type: --out logs/NAME\n"),
        (
            "run --algo ppo --env A-v0 -conf mine.yml",
            "Type: rlk import mine.yml --algo ppo --env A-v0 --out run.toml\n",
        ),
        ("run --yaml-file mine.yml", "Type: rlk import mine.yml --algo NAME --env ID --out run.t"),
        ("run mine.yml", "mine.yml is not a TOML file. A SPEC.toml describes one run: algo ="),
        ("run mine.yml --algo ppo", "by: rlk import mine.yml --algo ppo --env ID --out run.toml\n"),
        ("tune --algo ppo --optimization-log-path a", "rlk tune --algo NAME --env ENV --out a\n"),
        ("enjoy runs/mine --load-last-checkpoint", "Type: --last\n"),
        ("enjoy runs/mine --eval-freq 3", "No such option '--eval-freq'.\n"),
        ("plot-train", "No such command 'plot-train'. Type: rlk plot RUN…\n"),
        ("plot_train.py", "Type: rlk plot RUN…\n"),
        ("benchmark", "Type: rlk evaluate RUN\n"),
        ("push_to_hub", "No model is uploaded or downloaded here"),
        ("run --algo dqn --save-path here", "Type: --out here\n"),
        ("run --algo dqn --load a.zip", "Type: --plugin model-start:path=a.zip\n"),
        ("enjoy --load a.zip", "Type: rlk enjoy RUN, where RUN is a run's folder (runs/…)\n"),
        ("list", "No such command 'list'. Type: rlk plugins list\n"),
        ("run --algo dqn --plugin evaluation:every", "needs a value: evaluation:every=VALUE\n"),
        ("run --algo dqn --algo ppo2", "--algo dqn and --algo ppo2: give one algorithm"),
        ("tune --algo dqn --algo ppo2", "--algo dqn and --algo ppo2: give one algorithm"),
        ("run --env A-v0 --env B-v0", "--env A-v0 and --env B-v0: give one environment"),
        ("resume runs/mine --env A-v0 --env B-v0", "give one environment"),
    ],
)
def test_what_to_type_instead_is_said(
    typed: str, says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert ended(*typed.split()) == 2
    assert says in capsys.readouterr().err


def test_an_option_that_is_repeated_with_one_value_is_that_value(
    capsys: pytest.CaptureFixture[str],
) -> None:
    twice = ["--algo", "a2c", "--algo", "a2c", "--env", "CartPole-v1", "--env", "CartPole-v1"]
    assert ended("run", *twice, "--explain") == 0
    assert "a2c" in capsys.readouterr().out
