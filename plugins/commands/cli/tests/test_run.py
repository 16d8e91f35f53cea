"""What `rlk run` says of a run before it trains."""

from __future__ import annotations

from pathlib import Path

import pytest

from rlk.planning.resolve import resolve
from rlk.planning.spec import make_spec
from rlk.registry.kernel import default_kernel
from rlk_cli.run import warn_of_no_callback
from rlk_testing.command_line import ended


@pytest.mark.parametrize(
    ("plugins", "warns"), [((), True), (("checkpoint",), False), (("no:checkpoint",), False)]
)
def test_a_run_that_nothing_will_be_kept_of_says_so_unless_that_was_asked_for(
    plugins: tuple[str, ...], warns: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    spec = make_spec("a2c", {"env": "CartPole-v1", "plugins": plugins})
    # Without a folder, a plan is what an installation without rlk-callbacks makes.
    warn_of_no_callback(resolve(default_kernel(), spec))
    assert ("pip install rlk-callbacks" in capsys.readouterr().err) is warns


def test_the_folder_of_a_run_that_failed_before_it_began_can_be_named_again(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(FAILS)
    out, common = tmp_path / "run", ["--algo", "a2c", "--preset", "none", "--timesteps", 10]
    env = f"{tmp_path}/mine.py:Fails"
    assert ended("run", *common, "--out", out, "--env", env) != 0
    assert not out.exists()
    out.mkdir()
    assert ended("run", *common, "--out", out, "--env", env) != 0
    assert list(out.iterdir()) == []
    assert ended("run", *common, "--out", out, "--env", "CartPole-v1") == 0
    assert (out / "model.zip").is_file()


FAILS = """
from gymnasium.envs.classic_control import CartPoleEnv

class Fails(CartPoleEnv):
    def reset(self, **given):
        raise OSError("no simulator")
"""
