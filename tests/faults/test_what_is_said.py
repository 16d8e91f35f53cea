"""The first hour of a user: errors name their cause and what to type; surprises are announced."""

from __future__ import annotations

import re
from pathlib import Path

import attrs
import gymnasium as gym
import numpy as np
import pytest
from faults.typed import TYPED

import rlk
import rlk_presets
from rlk.component import Component
from rlk.errors import BrokenPlugin, PlanError, nearest
from rlk.planning.resolve import resolve
from rlk.planning.spec import make_spec
from rlk.registry.entry import Entry
from rlk.registry.kernel import Kernel
from rlk_cli.check import fault
from rlk_testing.environments import DiscreteMatch
from rlk_testing.stand_ins import COMPONENTS, IdleNoise, StandIn

# ---- faults at run time --------------------------------------------------------------------------


FAILS = """
from rlk import hookimpl

@hookimpl
def rlk_update_end(run):
    run.plan.algorithm.config.gradient_step
"""


def test_an_error_at_run_time_names_distribution_file_and_line(rlk_typed, tmp_path):
    Path("fails.py").write_text(FAILS)
    ended = rlk_typed("run", "--algo", "ppo2", *TYPED, "--out", "failed", "--plugin", "./fails.py")
    assert ended.code == 1
    first, second, third = ended.err.splitlines()
    assert first == "Error: AttributeError: 'PPO2Config' object has no attribute 'gradient_step'"
    place = f"  in fails.py, {tmp_path / 'fails.py'}:6: run.plan.algorithm.config.gradient_step"
    assert second == place
    assert third == "This may be a fault of fails.py; --debug shows the whole traceback."


@pytest.mark.parametrize("returned", [({}, None), None, {"loss": 1.0}])
def test_an_update_that_returns_no_update_says_so(rlk_stand_in_kernel, returned):
    class Tuples(StandIn):
        def update(self, batch, optimise):
            super().update(batch, optimise)
            return returned

    algorithm = attrs.evolve(COMPONENTS["algorithms"], name="tuples", factory=Tuples)
    rlk_stand_in_kernel.registries.algorithms.register("tuples", algorithm)
    made = rlk.make("tuples", env=DiscreteMatch, kernel=rlk_stand_in_kernel)
    found = f"algorithm 'tuples' (this program): update() returned {returned!r}. It must return rlk"
    with made as agent, pytest.raises(BrokenPlugin, match=re.escape(found)):
        agent.learn(8)


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"defaults": {"storage": "replya"}}, "the default storage='replya': .*'replay'"),
        ({"defaults": {"distribution": {"Box": "categorial"}}}, "distribution.*'categorical'"),
        ({"defaults": {"vf_optimiser": "adm"}}, "the default vf_optimiser='adm': .*'adam'"),
        ({"defaults": {"policy": "mlp", "policy.layer": [64]}}, "policy.layer.*'layers'"),
        ({"defaults": {"n_env": 8}}, "the default n_env=8: .*'n_envs'"),
        ({"forwards": {"speed": "replay.bufer_size"}}, "'bufer_size'. Did you mean 'buffer_size'"),
        (
            {"forwards": {"speed": "storage.bufer_size"}},
            "setting of any storage: 'bufer_size'. Did",
        ),
        ({"defaults": {"epsilon-gready.fraction": 0.3}}, "'epsilon-gready' is not .*'epsilon-gre"),
        (
            {"config": attrs.make_class("C", {"seed": attrs.field(default=1)})},
            "its setting 'seed' is a word of every",
        ),
        (
            {"config": attrs.make_class("C", {"policy": attrs.field(default=1)})},
            "'policy' is a word of every run",
        ),
        ({"activates": {"speed": "n-stp"}}, "'n-stp' is not installed. .*'n-step'"),
        ({"selects": {"speed": "noise"}}, "selects one of 'noise': .*'noises'"),
        ({"forwards": {"sped": "replay.buffer_size"}}, "forwards: .*'sped'. .*'speed'"),
    ],
)
def test_a_component_that_names_what_is_not_there_is_found_by_plugins_check(changes, problem):
    component = Component(**{"name": "mine", "factory": StandIn, "config": Speeding, **changes})
    entry = Entry("algorithms", "mine", "my-own", "0.1", lambda: component)
    assert re.search(problem, fault(entry, rlk.default_kernel().registries) or "sound")


@attrs.frozen(kw_only=True)
class Speeding:
    """Settings of a component."""

    speed: bool = False


def test_what_need_not_be_installed_is_no_fault(rlk_empty_kernel):
    rlk_empty_kernel.registries.storages.register("replay", Path)
    forwards = {"speed": "prioritized-replay.alpha"}
    component = Component(name="mine", factory=StandIn, config=Speeding, forwards=forwards)
    entry = Entry("algorithms", "mine", "my-own", "0.1", lambda: component)
    assert fault(entry, rlk_empty_kernel.registries) is None


def test_defaults_that_no_run_takes_are_found_by_plugins_check():
    component = Component(name="mine", factory=StandIn, defaults={"optimiser": "adam"})
    entry = Entry("extensions", "mine", "my-own", "0.1", lambda: component)
    found = fault(entry, rlk.default_kernel().registries) or "sound"
    assert "only the defaults of its algorithm. Propose settings in rlk_configure" in found


@pytest.mark.parametrize(
    ("kind", "field", "concerned"),
    [
        ("extensions", {"wraps": "vector"}, "wrappers"),
        ("wrappers", {"makes_only_vectors": True}, "vec_envs"),
        ("algorithms", {"perturbs_policy": True}, "noises"),
        ("noises", {"stages": ("fold",)}, "storages"),
    ],
)
def test_a_field_for_components_of_another_kind_is_found_by_plugins_check(kind, field, concerned):
    ((name, value),) = field.items()
    component = Component(name="mine", factory=lambda *_: None, **field)
    entry = Entry(kind, "mine", "my-own", "0.1", lambda: component)
    found = fault(entry, rlk.default_kernel().registries)
    assert found == f"{name}={value!r} is for {concerned}, and this is one of the {kind}"


# ---- errors say what to type ---------------------------------------------------------------------


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        ("run --algo ppo2 --gamma 0.9", "Type: --set gamma=0.9"),
        ("run --algo ppo2 --gama=0.9", "Type: --set gamma=0.9"),
        ("run --algo ppo2 --learning-rate 1e-3", "Type: --set learning_rate=1e-3"),
        ("run --algo dqn --layers [64,64]", "Type: --set 'policy.layers=[64, 64]'"),
        ("run --algo dqn --n-threads 1", "Type: --set n_threads=1"),
        ("run --algo dqn --total-timesteps 100", "Type: --timesteps 100"),
        ("run --algo dqn --n_envs 2", "Type: --n-envs 2"),
        ("run --algo dqn --stop-at 475", "Type: --plugin evaluation:stop_at=475"),
        ("run --algo dqn --tensorboard-log logs", "Type: --plugin tensorboard"),
        ("run --algo dqn --eval-freq 500", "Type: --plugin evaluation:every=500"),
        ("run --algo dqn --wrapper ./mine.py:Wrap", "Type: --plugin ./mine.py:Wrap"),
        ("run --algo dqn --device gpu", "no device 'gpu'. Use auto, cpu, cuda, cuda:1 or"),
        ("run --algo dqn -n 500", "Type: --timesteps 500"),
        ("run --algo dqn --optimize --n-trials 9", "Type: rlk tune --algo NAME --env ENV\n"),
        ("run --algo dqn -optimize", "Type: rlk tune --algo NAME --env ENV\n"),
        ("run --algo dqn --n-trials 9", "Type: rlk tune --algo NAME --env ENV --trials 9\n"),
        ("run --algo dqn --sampler random", "rlk tune --algo NAME --env ENV --sampler ran"),
        ("run --algo dqn --pruner median --n-jobs 2", "rlk tune --algo NAME --env ENV --pruner me"),
        ("tune --algo dqn --n-trials 9", "Type: rlk tune --algo NAME --env ENV --trials 9\n"),
        ("tune --algo dqn --n-jobs=2", "Type: rlk tune --algo NAME --env ENV --jobs 2\n"),
        ("tune --algo dqn -optimize", "Type: rlk tune --algo NAME --env ENV\n"),
        ("tune --algo dqn -n 500", "Type: --timesteps 500\n"),
        ("run --algo dqn -i trained.zip", "Type: --plugin model-start:path=trained.zip"),
        ("run --trained-agent trained.zip", "Type: --plugin model-start:path=trained.zip"),
        ("enjoy -i trained.zip", "Type: rlk enjoy RUN, where RUN is a run's folder"),
        ("run --algo a2c --env Acrobot-v1 CartPole-v1", "type rlk run once for each --env"),
        ("run nothing.toml", "cannot read nothing.toml: No such file or directory.\n"),
        ("enjoy --algo ppo2 --env CartPole-v1", "Type: rlk enjoy RUN, where RUN is a run's"),
        ("evaluate -f trained_agents/", "Type: rlk evaluate RUN, where RUN"),
        ("enjoy runs/mine -n 5000", "Type: --episodes N"),
        ("resume runs/mine -n 5000", "Type: --timesteps 5000"),
        ("enjoy runs/mine --load-checkpoint 500", "Type: rlk enjoy RUN/checkpoints/500.zip"),
        ("train --algo dqn", "Type: rlk run --algo NAME --env ENV"),
        ("rnu", "No such command 'rnu'. Did you mean 'run'?"),
        ("run --algo dqn --unheard-of", "No such option '--unheard-of'."),
        ("plugins list --kind replay", "--kind storages, or rlk plugins show replay"),
        ("plugins list --kind sotrages", "Did you mean 'storages'?"),
        (
            "run --algo ppo2 --env ./maze_of_mine.py",
            "--env ./maze_of_mine.py:Maze or --env ./maze_",
        ),
        ("run --algo ppo2 --env ./not_here.py", "file './not_here.py' does not exist"),
        ("run --algo ppo2 --env ./maze_of_mine.py:Maz", "Did you mean 'Maze'?"),
        ("run --algo ppo2 --env CartPole-v9", "environment 'CartPole-v9' cannot be made: "),
        ("run --algo ppo2 --env cartpole", "Did you mean 'CartPole-v1' or 'CartPole-v0'?"),
        ("run --algo acer --set num_procs=2", "num_procs: torch's threads are n_threads=…"),
        ("run --algo acktr --set nprocs=2", "nprocs: torch's threads are n_threads=…"),
        ("run --algo ppo2 --set n-step.n=3", "Add --plugin n-step"),
    ],
)
def test_an_error_says_what_to_type(rlk_typed, typed, said):
    ended = rlk_typed(*typed.split())
    assert ended.code == 2
    assert said in ended.err


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (
            {"policy_kwargs": {"layers": [32]}},
            r"policy_kwargs: use --set 'policy.layers=.*', or in Python "
            r"settings=\{'policy.layers': \[32\]\}\.",
        ),
        (
            {"policy": "LnMlpPolicy", "policy_kwargs": {"dueling": False, "layers": [32]}},
            r"use --set dueling=false --set 'policy.layers=.*', or in Python dueling=False, "
            r"settings=\{'policy.layers': \[32\]\}\.",
        ),
        ({"policy_kwargs": None}, "it has no settings. Leave it out."),
        ({"tensorboard_log": "logs"}, r"plugins=\['tensorboard'\]"),
        ({"callback": print}, r"plugins=\[…\]"),
        ({"n_cpu_tf_sess": 1}, "n_threads=…"),
        ({"full_tensorboard_log": True}, "Leave it out"),
        ({"env_kwargs": {"gravity": 9.0}}, r"--set env\.gravity=9\.0, .* settings=.*'env"),
        ({"wrapper_class": print}, r"plugins=\[…\] with the class"),
        ({"vec_env_cls": list}, "vec_env='NAME'.*--kind vec_envs"),
        ({"config": {"gamma": 0.5}}, r"got \{'gamma': 0\.5\}\. Pass settings alone as keywords"),
        ({"env": [DiscreteMatch, DiscreteMatch]}, "n_envs=2 and pass one of these functions"),
        ({"env": [3, 4]}, r"got list \[3, 4\]\.$"),
    ],
)
def test_what_stable_baselines_calls_otherwise_is_refused_with_its_translation(given, said):
    with pytest.raises(PlanError, match=said):
        rlk.make("dqn", **{"env": "CartPole-v1", **given})


def test_a_policy_and_an_environment_are_keywords():
    said = r"rlk.make\('dqn', policy='MlpPolicy', env='CartPole-v1', …\)"
    with pytest.raises(PlanError, match=said):
        rlk.make("dqn", "MlpPolicy", "CartPole-v1")


def test_the_help_of_run_names_the_recipes(rlk_typed):
    recipes = rlk.default_kernel().registries.recipes.names()
    shown = " ".join(rlk_typed("run", "--help").out.split())
    assert (
        recipes and f"a recipe, an algorithm with other components: {', '.join(recipes)}." in shown
    )


@pytest.mark.parametrize(
    "typed",
    [
        "run --algo muzero",
        "run --algo ppo2 --plugin sticky",
        "run --algo ppo2 --env NoSuch-v0",
        "run --algo ppo2 --policy resnet",
        "run --algo ppo2 --set no_such=1",
        "run --bogus",
        "plugins show nothing-like-it",
        "plugins list --kind gadgets",
    ],
)
def test_an_error_shows_at_most_five_names_and_none_for_lack_of_a_better(rlk_typed, typed):
    ended = rlk_typed(*typed.split())
    assert ended.code == 2
    assert "Did you mean" not in ended.err
    kernel = rlk.default_kernel()
    names = {entry.name for entry in kernel.registries.every_entry()}
    assert len(set(re.findall(r"[\w-]+", ended.err)) & (names | set(gym.registry))) <= 5


def test_nobody_is_told_twice_that_a_listener_stopped_the_run(trained, capsys):
    class Enough:
        @rlk.hookimpl
        def rlk_step(self, run):
            return run.timesteps < 3

    trained(plugins=[Enough()], verbose=1)
    said = "stopped by plugin 'Enough-0' (rlk_step returned False) after 3 timesteps"
    assert said in capsys.readouterr().out


def test_names_are_near_by_a_few_letters_as_a_word_or_by_their_initials():
    known = ["sac", "dqn", "ppo2", "trpo", "normal-noise", "MlpPolicy", "LnMlpPolicy"]
    near = {name: nearest(name, known) for name in ("ddpg", "dnq", "PPO", "noise", "mlp-policy")}
    assert near == {
        "ddpg": [],
        "dnq": ["dqn"],
        "PPO": ["ppo2"],
        "noise": ["normal-noise"],
        "mlp-policy": ["MlpPolicy"],
    }
    assert nearest("lr", ["learning_rate", "lam", "layers"]) == ["learning_rate"]
    assert len(nearest("step", [f"step-{number}" for number in range(9)])) == 5


# ---- what one may not expect is said -------------------------------------------------------------


@pytest.mark.parametrize("given", [{"plugins": ["sticky"]}, {"noise": "sticky"}])
def test_a_noise_that_switches_the_usual_one_off_says_so(given):
    kernel = Kernel()
    kernel.registries.noises.register("sticky", IdleNoise)
    notes = resolve(kernel, make_spec("dqn", given)).notes
    said = "noise 'sticky' takes the place of 'epsilon-greedy', with which dqn explores by default"
    assert [note.partition(":")[0] for note in notes] == [said]
    assert resolve(kernel, make_spec("dqn", {})).notes == ()
    assert resolve(kernel, make_spec("dqn", {"noise": "epsilon-greedy"})).notes == ()


def test_an_optimiser_with_the_learning_rate_of_another_says_so():
    kernel = Kernel()

    def notes(algo, **given):
        return resolve(kernel, make_spec(algo, {"env": "CartPole-v1", **given})).notes

    said = "optimiser 'adam' takes the place of 'kfac', for which learning_rate=0.25 is meant: "
    (note,) = notes("acktr", optimiser="adam")
    assert note.startswith(said) and note.endswith("--set learning_rate=… as well")
    assert notes("acktr", optimiser="adam", learning_rate=7e-4) == ()
    assert notes("acktr", optimiser="kfac") == notes("acktr") == ()
    (_, note) = notes("a2c", preset="zoo", optimiser="kfac")
    assert "the place of 'rmsprop', for which learning_rate=0.0007 is meant" in note


def seen(low, high, shape, kind):
    """A function that makes an environment with observations of this space."""
    space = gym.spaces.Box(low, high, shape, kind)
    return lambda: gym.wrappers.TransformObservation(DiscreteMatch(), lambda one: one, space)


def test_images_that_get_a_policy_for_vectors_say_so():
    image, vector = seen(0, 255, (84, 84, 4), np.uint8), seen(0, 1, (4,), np.float32)
    kernel = rlk.default_kernel()
    (note,) = resolve(kernel, make_spec("ppo2", {"env": image})).notes
    assert note.startswith("observations are images, Box((84, 84, 4), uint8): policy 'mlp'")
    assert note.endswith("for images: --policy cnn")
    for given in (
        {"env": vector},
        {"env": image, "policy": "cnn"},
        {"env": image, "policy": "mlp"},
    ):
        assert resolve(kernel, make_spec("ppo2", given)).notes == ()


def test_where_presets_apply_is_said_where_one_looks():
    readme = Path(rlk_presets.__file__).parents[2] / "README.md"
    for text in (rlk.make.__doc__, readme.read_text()):
        assert "preset='zoo'" in text.replace('"', "'") and "rlk run" in text


MANY = """
import gymnasium as gym

class Many(gym.Env):
    action_space = gym.spaces.Discrete(2)

    def __init__(self, n):
        self.observation_space = gym.spaces.Discrete(n)
"""


@pytest.mark.parametrize(
    "typed",
    [
        "--n-envs 100000000000000",
        "--set n_steps=100000000000000",
        f"--set n_steps={2**62}",
        f"--set n_steps={10**26}",
        f"--env ./many.py:Many --set env.n={10**12}",
        f"--env ./many.py:Many --set env.n={2**62}",
    ],
)
def test_a_run_that_is_too_large_for_the_machine_is_nobodys_fault(rlk_typed, typed):
    Path("many.py").write_text(MANY)
    given = ("run", "--algo", "a2c", "--timesteps", "10", "--quiet", *typed.split())
    ended = rlk_typed(*given, "--out", "large")
    assert ended.code == 1 and ended.err.startswith("Error: not enough memory: ")
    assert "Ask for less of it: fewer environments (--n-envs)" in ended.err
    assert "Discrete or MultiDiscrete spaces have fewer values" in ended.err
    assert "fault of" not in ended.err


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        ("--set plugins=3", "plugins must be a list of plugins, got 3."),
        ("--set out=3", "out is the name of a folder, got 3."),
        ("--device meta --quiet", 'meta tensors. Use --device cpu, or device="cpu" in a program.'),
    ],
)
def test_what_is_of_the_wrong_kind_is_refused(rlk_typed, typed, said):
    ended = rlk_typed("run", "--algo", "a2c", *typed.split())
    assert ended.code == 2 and said in ended.err
