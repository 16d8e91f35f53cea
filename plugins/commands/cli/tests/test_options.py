"""The settings that a command line and a SPEC.toml give."""

from __future__ import annotations

import pytest

from rlk.errors import PlanError
from rlk.planning.resolve import resolve
from rlk.planning.spec import make_spec
from rlk.registry.kernel import default_kernel
from rlk_cli.options import SHARED, given, over_file, read_spec, typed_verbosity
from rlk_testing.tools.command_line import ended


def test_what_is_not_given_is_left_out():
    found = given(("gamma=0.9",), seed=2, device=None, plugins=())
    assert found == {"seed": 2, "gamma": 0.9}


def test_settings_and_options_that_contradict_each_other_are_refused():
    assert given(("n_envs=3",), n_envs=3) == {"n_envs": 3}
    with pytest.raises(PlanError, match=r"^n_envs=4 \(--set\) and n_envs=3 .* with two values"):
        given(("n_envs=4",), n_envs=3)
    with pytest.raises(PlanError, match=r"^gamma=0.9 \(--set\) and gamma=0.8 \(--set\) are one"):
        given(("gamma=0.9", "gamma=0.8"))
    assert given(("gamma=0.9", "gamma=0.9", "plugins=[monitor]"), plugins=("monitor",)) == {
        "gamma": 0.9,
        "plugins": ["monitor"],
    }


def test_nan_which_equals_nothing_is_no_second_value():
    found = given(("ent_coef=nan",), total_timesteps=float("nan"))
    assert str(found) == "{'ent_coef': nan, 'total_timesteps': nan}"


def test_none_is_a_word_for_slots_and_presets_and_no_value_for_other_settings():
    found = given(("noise=none", "preset=none", "action_noise=none", "seed=none"))
    assert found == {"noise": "none", "preset": "none", "action_noise": None, "seed": None}


@pytest.mark.parametrize(
    ("quiet", "more", "verbose"), [(True, 0, 0), (True, 2, 0), (False, 0, None), (False, 1, 2)]
)
def test_quiet_and_v_are_a_setting_that_is_open_without_them(quiet, more, verbose):
    assert typed_verbosity(quiet, more) == verbose


def test_v_prints_the_plan_as_its_help_says(tmp_path, capsys):
    (help_text,) = [option.help for option in SHARED if option.name == "verbosity"]
    assert help_text == "Print the plan as well."
    command = ("run", "--algo", "dqn", "--timesteps", 1, "--out", tmp_path / "run")
    assert ended(*command, "-v") == 0
    assert "env nests" in capsys.readouterr().out


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
    spec, packages = read_spec(path)
    assert spec.algo == "dqn" and packages == {}
    assert spec.plugins == ("prioritized-replay",)
    assert spec.given == {
        "n_envs": 2,
        "env": "CartPole-v1",
        "gamma": 0.98,
        "policy.layers": [32],
        "prioritized-replay.alpha": 0.5,
        "env.gravity": 9.0,
    }
    assert spec.origins["gamma"].by == str(path)


def test_a_slot_in_the_settings_has_a_table_beside_it(tmp_path):
    path = tmp_path / "spec.toml"
    path.write_text(
        'algo = "trpo"\n[settings]\nvf_optimiser = "adam"\n[vf_optimiser]\neps = 0.001\n', "utf-8"
    )
    assert read_spec(path)[0].given == {"vf_optimiser": "adam", "vf_optimiser.eps": 0.001}


def test_a_file_may_begin_with_the_mark_that_editors_of_windows_write(tmp_path):
    path = tmp_path / "spec.toml"
    path.write_text('algo = "dqn"\n', encoding="utf-8-sig")
    assert path.read_bytes().startswith(b"\xef\xbb\xbf")
    assert read_spec(path)[0].algo == "dqn"


def test_none_in_a_file_is_none_but_where_it_is_a_word(tmp_path):
    path = tmp_path / "spec.toml"
    path.write_text(
        'algo = "ddpg"\npreset = "none"\nnoise = "none"\n[env]\nid = "Pendulum-v1"\n'
        'mode = "none"\n[settings]\nmemory_limit = "none"\n[replay]\nmapped = "none"\n'
    )
    assert read_spec(path)[0].given == {
        "preset": "none",
        "noise": (),
        "env": "Pendulum-v1",
        "env.mode": "none",
        "memory_limit": None,
        "replay.mapped": None,
    }


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("algo = ", "is not a TOML file"),
        ("algo = 3", "algo must be a name"),
        ("[set]\ngamma = 0.9", r"settings are in the table \[settings\], not \[set\]"),
        ('packages = "rlk-dqn"', "packages must be a table"),
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


@pytest.mark.parametrize(
    ("file", "given", "says"),
    [
        ("ppo2", {"env": "CartPole-v1"}, r"there is no such file\. Type: --algo ppo2$"),
        ("her", {}, r"Type: --algo her$"),
        ("ppo2", {"algo": "dqn"}, r"A run has one algorithm\.$"),
        ("CartPole-v1", {"algo": "dqn"}, r"there is no such file\. Type: --env CartPole-v1$"),
        ("./mine.py:Mine", {}, r"Type: --env \./mine\.py:Mine$"),
        (
            "CartPole-v1",
            {"env": "Acrobot-v1"},
            r"one environment: type rlk run once for each --env",
        ),
        ("nothing", {"env": "Acrobot-v1"}, r"cannot read nothing: there is no such file\.$"),
    ],
)
def test_what_is_typed_without_its_option_in_place_of_a_file_says_which(file, given, says):
    spec = make_spec(given.pop("algo", ""), given)
    with pytest.raises(PlanError, match=says):
        over_file(spec, file)


def test_what_is_typed_wins_over_the_file(tmp_path):
    path = tmp_path / "spec.toml"
    path.write_text('algo = "dqn"\nn_envs = 2\nverbose = 0\n')
    spec = over_file(make_spec("", {"n_envs": 3}), str(path))
    assert (spec.algo, dict(spec.given)) == ("dqn", {"n_envs": 3, "verbose": 0})
    assert over_file(spec, None) is spec


WITH_PACKAGES = """
algo = "dqn"
storage = "ring-of-another"
noise = ["epsilon-greedy", "shaky"]
plugins = ["no:left-out", "watch-it:every=5", "replay"]

[packages]
dqn = "rlk-dqn"
ring-of-another = "rlk-rings"
shaky = "rlk-shaky==0.2"
left-out = "rlk-left-out"
watch-it = "rlk-watchers"
replay = "rlk-replay"
"""


@pytest.mark.parametrize(
    ("given", "says"),
    [
        (
            {},
            r"has 'ring-of-another' and 'shaky' and 'watch-it', which are not installed\. "
            r"Type: pip install rlk-rings rlk-shaky==0\.2 rlk-watchers$",
        ),
        (
            {"storage": "replay", "noise": "none"},
            r"has 'watch-it', which is .*install rlk-watchers$",
        ),
    ],
)
def test_what_is_not_installed_is_told_with_the_distributions_that_the_file_names(
    tmp_path, given, says
):
    path = tmp_path / "spec.toml"
    path.write_text(WITH_PACKAGES)
    with pytest.raises(PlanError, match=says):
        over_file(make_spec("", given), str(path))


def test_a_setting_of_another_version_is_refused_with_what_installs_that(tmp_path):
    path = tmp_path / "spec.toml"
    text = 'algo = "dqn"\nenv = "CartPole-v1"\n[settings]\nolder = 1\n[packages]\ndqn = "rlk-dqn'
    said = r"unknown setting of algorithm 'dqn' .*'older'"
    for version in ("==0.0.1", ""):
        path.write_text(f'{text}{version}"\n')
        with pytest.raises(PlanError, match=said) as raised:
            resolve(default_kernel(), over_file(make_spec("", {}), str(path)))
        advised = str(raised.value).endswith("file as it is, type: pip install rlk-dqn==0.0.1")
        assert advised == (version != "")


@pytest.mark.parametrize(
    ("plugins", "text"),
    [
        (["joins-ranks"], None),
        (["joins-ranks"], "algo = 3"),
        ([], WITH_PACKAGES.replace('"replay"]', '"joins-ranks"]')),
    ],
)
def test_ranks_are_connected_before_a_file_is_refused_on_one_of_them(tmp_path, plugins, text):
    calls, extensions = [], default_kernel().registries.extensions
    path = tmp_path / "spec.toml"
    if text is not None:
        path.write_text(text)
    extensions.register("joins-ranks", lambda: None, connects=lambda: calls.append(1))
    try:
        with pytest.raises(PlanError):
            over_file(make_spec("", {"plugins": plugins}), str(path))
    finally:
        extensions.unregister("joins-ranks")
    assert calls


def test_no_file_needs_to_name_a_distribution(tmp_path):
    path = tmp_path / "spec.toml"
    path.write_text('algo = "dqn"\nplugins = ["watch-it"]\n')
    assert over_file(make_spec("", {}), str(path)).plugins == ("watch-it",)
