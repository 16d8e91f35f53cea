"""`rlk run`: its folder, its output, and how it ends."""

import json
import os
import signal
import tomllib
from pathlib import Path

import numpy as np
import pytest

from rlk.component import Component
from rlk.documents import parse_json
from rlk.registry.entry import Entry
from rlk.registry.external import PASSED
from rlk.registry.kernel import default_kernel
from rlk.running import seeding
from rlk_cli import folder

RUNS = ("one", "two")
OUTPUT = {"plan.json", "spec.toml", "model.zip", "progress.csv", "monitor.csv", "checkpoints"}


def test_a_run_leaves_its_files_and_says_what_it_does_and_what_may_follow(rlk, small):
    ended = rlk(*small, "--seed", 5, "--out", "there")
    assert ended.code == 0, ended.err
    assert {path.name for path in Path("there").iterdir()} >= OUTPUT
    first, *rest = ended.out.splitlines()
    assert first == "ppo2 on CartPole-v1 x 1, seed 5"
    text = "\n".join(rest)
    assert "device cpu (auto: a GPU is for images), " in text
    assert "16 timesteps into there/" in text
    assert "done: 16 timesteps in " in text
    assert "there/model.zip" in text
    following = ["  rlk evaluate there", "  rlk enjoy there", "  rlk plot there"]
    assert rest[-4:] == ["next:", *following]


def test_what_may_follow_can_be_typed_for_a_folder_that_begins_with_a_dash(rlk, small):
    ended = rlk(*small, "--seed", 5, "--out", "-x")
    following = ["  rlk evaluate ./-x", "  rlk enjoy ./-x", "  rlk plot ./-x"]
    assert ended.out.splitlines()[-3:] == following


def test_quiet_prints_nothing(rlk, small):
    ended = rlk(*small, "--quiet", "--out", "there")
    assert (ended.code, ended.out, ended.err) == (0, "", "")


def test_schedules_are_typed_and_both_files_of_the_run_hold_them(rlk, small):
    schedules = {
        "learning_rate": "linear:initial=0.001,final=1e-05",
        "cliprange": "middle_drop_0.2",
        "cliprange_vf": "[[0.0, 0.3], [1.0, 0.1]]",
    }
    typed = [part for key, value in schedules.items() for part in ("--set", f"{key}={value}")]
    assert rlk(*small, *typed, "--quiet", "--out", "there").code == 0
    expected = schedules | {"cliprange_vf": [[0.0, 0.3], [1.0, 0.1]]}
    plan = json.loads(Path("there/plan.json").read_text())["components"][0]["settings"]
    spec = tomllib.loads(Path("there/spec.toml").read_text())["settings"]
    for settings in (plan, spec):
        assert {key: settings[key] for key in expected} == expected
    assert rlk("run", "there/spec.toml", "--quiet", "--out", "again").code == 0
    again = json.loads(Path("again/plan.json").read_text())["components"][0]["settings"]
    assert again == plan


def test_a_plan_with_infinite_settings_is_json_and_can_be_plotted(rlk):
    small = ("--set", "nb_rollout_steps=50", "--set", "batch_size=8", "--timesteps", 400)
    run = ("run", "--algo", "ddpg", "--env", "Pendulum-v1", "--preset", "none", *small)
    assert rlk(*run, "--quiet", "--out", "there").code == 0
    plan = parse_json(Path("there/plan.json").read_text())
    assert plan["components"][0]["settings"]["return_range"] == ["-inf", "inf"]
    assert rlk("plot", "there", "--out", "curve.png").code == 0


def test_a_run_is_named_after_algorithm_environment_seed_and_time(rlk, small):
    for _ in range(2):
        assert rlk(*small, "--quiet", "--env", "CartPole-v1", "--seed", 7).code == 0
    names = sorted(path.name for path in Path("runs").iterdir())
    assert len(names) == 2
    assert all(name.startswith("ppo2-CartPole-v1-7-2") for name in names)


def test_without_a_seed_one_is_drawn_and_kept(rlk, small, monkeypatch):
    monkeypatch.setattr(seeding, "draw_seed", lambda: 2**32 - 1)
    assert rlk(*small, "--quiet", "--out", "there").code == 0
    drawn = json.loads(Path("there/plan.json").read_text())["run"]["seed"]
    assert drawn == 2**32 - 1
    assert tomllib.loads(Path("there/spec.toml").read_text())["seed"] == drawn


def test_two_runs_in_one_second_have_folders_of_their_own(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(folder.time, "strftime", lambda form: "20260101-000000")
    plan = Plan("ppo2", "ALE/Pong-v5", 3)
    made = [str(folder.choose(None, plan)) for _ in range(3)]
    first = "runs/ppo2-ALE_Pong-v5-3-20260101-000000"
    assert made == [first, f"{first}+2", f"{first}+3"]


def test_a_default_folder_that_another_run_makes_at_this_moment_is_left_to_it(
    tmp_path, monkeypatch
):
    make, others = os.mkdir, []

    def made_by_another_first(path, *mode):
        if Path(path).parent.name == "runs" and not others:
            others.append(Path(path))
            make(path, *mode)
        make(path, *mode)

    monkeypatch.chdir(tmp_path)
    Path("runs").mkdir()
    monkeypatch.setattr(os, "mkdir", made_by_another_first)
    made = folder.choose(None, Plan("ppo2", "CartPole-v1", 3))
    assert made.is_dir() and others == [made.with_name(made.name.removesuffix("+2"))] != [made]


@pytest.mark.parametrize("env", ["./mine.py:Walk", "../there/mine.py:Walk", "mine:Walk"])
def test_a_folder_is_called_by_the_class_of_an_environment_from_a_file(env, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    made = folder.choose(None, Plan("ppo2", env, 3))
    assert made.name.startswith("ppo2-Walk-3-")


class Named:
    def __init__(self, name):
        self.name = name


class Plan:
    """The parts of a plan that determine the name of a folder."""

    def __init__(self, algo, env, seed):
        self.algorithm, self.env, self.seed = Named(algo), Named(env), seed


def test_a_folder_that_is_not_empty_is_refused_with_what_to_type(rlk, small):
    Path("full").mkdir()
    Path("full/file").touch()
    Path("empty").mkdir()
    ended = rlk(*small, "--out", "full")
    assert ended.code == 2
    assert "--out full exists and is not empty" in ended.err and "rlk resume full" in ended.err
    assert rlk(*small, "--out", "full/file").code == 2
    assert rlk(*small, "--quiet", "--out", "empty").code == 0


def test_a_folder_that_cannot_be_made_is_refused(rlk, small):
    Path("file").touch()
    ended = rlk(*small, "--out", "file/below")
    assert ended.code == 2
    assert "--out file/below cannot be made" in ended.err


def test_a_default_folder_that_cannot_be_made_is_refused_with_what_to_type(rlk, small):
    Path("runs").touch()
    ended = rlk(*small)
    assert ended.code == 2 and ended.err.startswith("Error: the run's folder runs/"), ended.err
    assert "(--out DIR names another) cannot be made" in ended.err


BROKEN = {
    "a module that cannot be imported": ("import rlk_no_such_module\n", "No module named"),
    "a class that lacks methods": (
        "class Log:\n    def step(self, objective): ...\n",
        "lacks load_state_dict, state_dict",
    ),
    "a hook that is none": (
        "from rlk import hookimpl\n"
        "class Log:\n"
        "    @hookimpl\n"
        "    def rlk_updat_end(self, run): ...\n",
        "Did you mean 'rlk_update_end'",
    ),
}


@pytest.mark.parametrize("what", BROKEN)
@pytest.mark.parametrize("out", [[], ["--out", "there"]])
def test_what_is_broken_is_refused_before_a_folder_is_made(rlk, small, monkeypatch, what, out):
    text, cause = BROKEN[what]
    module = f"broken_{len(text)}_{len(out)}"
    Path(f"{module}.py").write_text(text)
    monkeypatch.syspath_prepend(".")
    kind = "callbacks" if "hook" in what else "optimisers"
    component = Component(name="frail", factory=f"{module}:Log")
    entry = Entry(kind, "frail", "rlk-frail", "0.3", lambda: component)
    entries = default_kernel().registries[kind].entries
    monkeypatch.setitem(entries, "frail", {entry.dist: entry})
    ended = rlk(*small, "--plugin", "frail", *out)
    assert ended.code == 2
    assert "(rlk-frail 0.3) is broken: " in ended.err and cause in ended.err
    assert {path.name for path in Path().iterdir()} <= {f"{module}.py", "__pycache__"}


def test_explain_prints_who_chose_what_and_writes_nothing(rlk):
    ended = rlk("run", "--algo", "dqn", "--set", "gamma=0.5", "--explain")
    assert ended.code == 0
    assert "gamma = 0.5   <- user" in ended.out
    # Plugins that are active in a run with a folder are shown too.
    assert "callback      checkpoint" in ended.out
    assert list(Path().iterdir()) == []


def test_every_slot_has_an_option(rlk):
    text = rlk("run", "--help").out
    for option in ("--policy", "--vec-env", "--storage", "--optimiser", "--serializer"):
        assert f"{option} NAME" in text
    assert "\n  rlk run --algo dqn --plugin prioritized-replay\n" in text


# ---- spec.toml -----------------------------------------------------------------------------------


def test_a_run_with_evaluations_is_made_again_from_its_spec(rlk, small):
    """The setting for the evaluation's environment is None, which the file holds as a text."""
    assert rlk(*small, "--plugin", "evaluation", "--quiet", "--out", "one").code == 0
    assert rlk("run", "one/spec.toml", "--quiet", "--out", "two").code == 0
    assert Path("one/spec.toml").read_text() == Path("two/spec.toml").read_text()


def test_a_specs_run_is_the_same_run(rlk):
    options = ["--timesteps", 300, "--set", "learning_starts=100", "--set", "mlp.layers=[16]"]
    asked = ["--plugin", "prioritized-replay:alpha=0.7", "--seed", 1, "--quiet", "--preset", "none"]
    assert rlk("run", "--algo", "dqn", *asked, *options, "--out", "one").code == 0
    assert rlk("run", "one/spec.toml", "--quiet", "--out", "two").code == 0
    assert Path("one/spec.toml").read_text() == Path("two/spec.toml").read_text()
    plans = [json.loads(Path(run, "plan.json").read_text()) for run in RUNS]
    for plan in plans:
        (storage,) = (c for c in plan["components"] if c["name"] == "prioritized-replay")
        assert storage["settings"]["alpha"] == 0.7
    episodes = [
        np.loadtxt(Path(run, "monitor.csv"), delimiter=",", skiprows=2)[:, :2] for run in RUNS
    ]
    assert len(episodes[0]) > 3 and np.array_equal(*episodes)


def test_the_command_line_wins_over_the_spec(rlk):
    Path("spec.toml").write_text(
        'algo = "ppo2"\nseed = 3\ntotal_timesteps = 16\n[settings]\nn_steps = 8\ngamma = 0.5\n'
    )
    arguments = ["run", "spec.toml", "--preset", "none", "--set", "gamma=0.6", "--quiet"]
    ended = rlk(*arguments, "--set", "nminibatches=1", "--out", "there")
    assert ended.code == 0, ended.err
    found = tomllib.loads(Path("there/spec.toml").read_text())
    assert (found["seed"], found["settings"]["gamma"], found["settings"]["n_steps"]) == (3, 0.6, 8)


def component(role, name, dist="rlk-x", version="1", joined=False, set_by=(), **settings):
    who = {"joined": joined, "set_by": dict.fromkeys(set_by, "user"), "version": version}
    return {"role": role, "name": name, "dist": dist, "settings": settings, **who}


def plan_of(*others, settings=None, kwargs=None):
    return {
        "components": [component("algorithm", "dqn", **(settings or {})), *others],
        "run": {"n_envs": 2, "seed": 3, "n_threads": None, "preset": "zoo"},
        "left_out": ["numpy-acting"],
        "env": {"name": "CartPole-v1", "kwargs": kwargs or {}},
    }


def test_a_plan_as_toml_has_slots_plugins_and_a_table_for_everyones_settings():
    plan = plan_of(
        component("policy", "mlp", layers=[64, 64], net_arch=None),
        component("decorator", "hindsight", k=4),
        component("wrapper", "monitor"),
        component("callback", "mine", dist="this program", version=""),
        settings={"gamma": 0.99, "learning_rate": "lin_1e-3"},
        kwargs={"gravity": 9.0},
    )
    assert tomllib.loads(folder.spec_toml(plan)) == {
        "algo": "dqn",
        "preset": "none",
        "n_envs": 2,
        "seed": 3,
        "policy": "mlp",
        "plugins": ["no:numpy-acting", "hindsight", "monitor", "mine"],
        "env": {"id": "CartPole-v1", "gravity": 9.0},
        "settings": {"gamma": 0.99, "learning_rate": "lin_1e-3"},
        "mlp": {"layers": [64, 64], "net_arch": "none"},
        "hindsight": {"k": 4},
        "packages": dict.fromkeys(("dqn", "mlp", "hindsight", "monitor"), "rlk-x==1"),
    }


def test_what_had_joined_by_itself_is_not_asked_for_unless_one_of_its_settings_was():
    plan = plan_of(
        component("logger", "csv", joined=True, every=1),
        component("callback", "checkpoint", joined=True, set_by=["every"], every=5),
        component("extension", "Listens-0", dist=PASSED),
    )
    text = folder.spec_toml(plan)
    found = tomllib.loads(text)
    assert found["plugins"] == ["no:numpy-acting", "checkpoint"]
    assert "csv" not in found and found["checkpoint"] == {"every": 5}
    assert text.endswith("# the plugin Listens-0 was an object\n")


def test_what_a_file_cannot_hold_is_left_out_with_a_comment():
    plan = plan_of(
        component("policy", "mlp", kwargs={"act": {"callable": "Tanh"}, "bias": True}),
        settings={"learning_rate": {"callable": "my_schedule"}, "gamma": 0.9},
        kwargs={"mode": None},
    )
    text = folder.spec_toml(plan)
    found = tomllib.loads(text)
    assert found["settings"] == {"gamma": 0.9}
    assert found["mlp"] == {"kwargs": {"bias": True}}
    assert found["env"] == {"id": "CartPole-v1"}
    assert text.splitlines()[-3:] == [
        "# env.mode was None",
        "# settings.learning_rate was the callable my_schedule",
        "# mlp.kwargs.act was the callable Tanh",
    ]


def test_a_plugin_from_a_file_is_in_the_spec_by_its_place(rlk, small):
    Path("mine.py").write_text(
        "from rlk.hookspecs import hookimpl\n"
        "@hookimpl\n"
        "def rlk_training_start(run):\n"
        "    open('called', 'a').write('x')\n"
    )
    assert rlk(*small, "--plugin", "./mine.py", "--quiet", "--out", "one").code == 0
    assert "./mine.py" in tomllib.loads(Path("one/spec.toml").read_text())["plugins"]
    assert rlk("run", "one/spec.toml", "--quiet", "--out", "two").code == 0
    assert Path("called").read_text() == "xx"


# ---- signals, and who takes over -----------------------------------------------------------------


@pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_saves_tells_how_to_resume_and_sets_the_exit_code(
    rlk_forks, tmp_path, small, number, code
):
    Path(tmp_path, "mine.py").write_text(
        "import os\n"
        "from rlk.hookspecs import hookimpl\n"
        "@hookimpl\n"
        "def rlk_rollout_start(run):\n"
        f"    if run.timesteps == 16: os.kill(os.getpid(), {int(number)})\n"
    )
    arguments = [*small, "--plugin", "./mine.py", "--timesteps", 80, "--out", "there"]
    with rlk_forks.start("-m", "rlk", *arguments, cwd=tmp_path) as running:
        printed, _ = running.communicate()
    assert running.returncode == code, printed
    assert f"stopped by {number.name} after 24 timesteps" in printed
    assert printed.splitlines()[-1] == "continue with: rlk resume there --plugin ./mine.py"
    assert Path(tmp_path, "there", "checkpoints", "24.zip").is_file()
    assert "Traceback" not in printed


def test_signals_are_handled_as_before_when_the_run_is_over(rlk, small):
    before = [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)]
    rlk(*small, "--quiet")
    assert [signal.getsignal(n) for n in (signal.SIGINT, signal.SIGTERM)] == before


def test_who_takes_over_does_so_before_anything_is_written(rlk, small):
    Path("mine.py").write_text(
        "from rlk.hookspecs import hookimpl\n@hookimpl\ndef rlk_take_over(plan):\n    return 4\n"
    )
    ended = rlk(*small, "--plugin", "./mine.py", "--out", "there")
    assert (ended.code, ended.out) == (4, "")
    assert not Path("there").exists()
