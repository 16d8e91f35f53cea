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
        ("run --algo ddpg --lr 1e-3", "Type: --set actor_lr=1e-3 or --set critic_lr=1e-3\n"),
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
