"""The settings that a command line and a SPEC.toml give."""

from __future__ import annotations

import pytest

from rlk.errors import PlanError
from rlk_cli.options import SHARED, given, read_spec


def test_an_option_wins_over_set_and_what_is_not_given_is_left_out():
    found = given(("seed=1", "gamma=0.9"), seed=2, device=None, plugins=())
    assert found == {"seed": 2, "gamma": 0.9}


def test_every_shared_option_has_a_help_text():
    assert all(option.help for option in SHARED)


# ---- SPEC.toml -----------------------------------------------------------------------------------


def test_a_file_is_read_with_its_tables(tmp_path):
    path = tmp_path / "spec.toml"
    path.write_text(
        'algo = "dqn"\nn_envs = 2\nplugins = ["prioritized-replay"]\n'
        '[env]\nid = "CartPole-v1"\ngravity = 9.0\n'
        "[settings]\ngamma = 0.98\n[policy]\nlayers = [32]\n[prioritized-replay]\nalpha = 0.5\n"
    )
    spec = read_spec(path)
    assert spec.algo == "dqn"
    assert spec.plugins == ("prioritized-replay",)
    assert spec.given == {
        "n_envs": 2,
        "env": "CartPole-v1",
        "gamma": 0.98,
        "policy.layers": [32],
        "prioritized-replay.alpha": 0.5,
        "env.gravity": 9.0,
    }
    assert spec.origins["gamma"] == str(path)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("algo = ", "is not a TOML file"),
        ("algo = 3", "algo must be a name"),
        (b"\xff\xfe", "is not a TOML file"),
    ],
)
def test_a_file_that_is_no_spec_is_refused(tmp_path, text, message):
    path = tmp_path / "spec.toml"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(PlanError, match=message):
        read_spec(path)


def test_a_file_that_is_not_there_is_refused(tmp_path):
    with pytest.raises(PlanError, match="cannot read"):
        read_spec(tmp_path / "none.toml")
