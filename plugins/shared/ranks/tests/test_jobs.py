"""What two and three ranks do without ending each other; each number of ranks starts once.

All of it is done under mpirun, and some of it under torchrun: what the two carriers of messages do
differently. `pytest -m launchers` does all of it under torchrun as well.
"""

from __future__ import annotations

import os
import runpy
import shutil
import sys

import numpy as np
import pytest

from rlk.registry.kernel import default_kernel
from rlk.saving import saved_files
from rlk_cli.main import main
from rlk_testing.environments import BY_ACTION_SPACE

#: Small enough that a training takes a second. Each joins where it is installed.
SMALL = {
    "a2c": ("n_steps=8",),
    "acer": ("n_steps=8", "replay_start=16"),
    "acktr": ("n_steps=8", "kfac.cold_iter=1"),
    "ddpg": (
        *("nb_rollout_steps=8", "nb_train_steps=2", "batch_size=8", "normalize_observations=true"),
        *("normalize_returns=true", "enable_popart=true", "param_noise=adaptive-parameter-noise"),
    ),
    "dqn": (
        "learning_starts=16",
        "batch_size=8",
        "target_network_update_freq=20",
        "param_noise=true",
    ),
    "ppo": ("n_steps=16", "batch_size=8", "learning_rate=0.01", "target_kl=0.001"),
    "ppo1": ("timesteps_per_actorbatch=16", "optim_batchsize=16"),
    "ppo2": ("n_steps=16",),
    "sac": ("learning_starts=16", "batch_size=8"),
    "trpo": ("timesteps_per_batch=16",),
}
KERNEL = default_kernel()
INSTALLED = sorted(set(SMALL) & set(KERNEL.registries.algorithms.names()))
#: What a rank keeps differs between the families, and with nothing else.
RESUMED = [algo for algo in INSTALLED if algo in ("acer", "dqn", "ppo2")]


def env_for(algo):
    served = KERNEL.registries.algorithms.get(algo).component().action_spaces
    return BY_ACTION_SPACE["Discrete" if "Discrete" in served else "Box"]


def run(plugin, algo, *more):
    settings = [word for one in (*SMALL[algo], "policy.layers=[16]") for word in ("--set", one)]
    fixed = ("--plugin", plugin, "--preset", "none", "--seed", 5)
    env = () if "--env" in more else ("--env", env_for(algo))
    return ("run", "--algo", algo, *env, *fixed, *settings, *more)


def resume(algo, *more):
    return ("resume", *(() if "--env" in more else ("--env", env_for(algo))), *more)


def trainings(plugin, programs, algos):
    """Every algorithm for 128 timesteps, and what can be resumed for 256 as well."""
    equal, size = ("--plugin", programs / "equal.py"), ("--n-envs", 2, "--timesteps")
    jobs = {}
    for algo in algos:
        jobs[algo] = run(plugin, algo, *size, 128, *equal, "--out", algo)
        if algo not in RESUMED:
            continue
        every = ("--plugin", "checkpoint:every=128", "--out", f"{algo}-whole", "--quiet")
        jobs[f"{algo}-whole"] = run(plugin, algo, *size, 256, *every)
        model = f"{algo}-whole/model.zip"
        jobs[f"{algo}-kept"] = (programs / "keep.py", model, f"{algo}-kept.zip")
        jobs[f"{algo}-resumed"] = resume(algo, f"{algo}-whole/checkpoints/128.zip")
    return jobs


def others(plugin, programs):
    """What else two ranks do. `alone` is a run of one rank, which `prepare` makes."""
    equal = ("--plugin", programs / "equal.py")
    stops = f"{programs / 'stops.py'}:"
    trouble = ("--env", f"{programs / 'trouble.py'}:Trouble", "--timesteps", 100_000)
    game = ("--env", "rlk_testing.environments:MaskedGame", "--plugin", "action-masking")
    unset = ("run", "--algo", "ppo2", "--env", env_for("ppo2"), "--plugin", plugin, "--quiet")

    def stopped(name, *more):
        return run(plugin, "ppo2", *trouble, "--plugin", f"{stops}{name}", "--out", name, *more)

    def signalled(name):
        return run(plugin, "ppo2", *trouble, "--set", f"env.what={name}", "--out", name)

    return {
        "exchange": (programs / "exchange.py",),
        "same-update": (programs / "same_update.py", "same-update.npz", 2),
        "unset-seed": (*unset, *equal, "--timesteps", 64, "--set", "n_steps=16"),
        "from-one-rank": resume("ppo2", "alone", "--timesteps", 128),
        "evaluate": ("evaluate", "alone", "--env", env_for("ppo2"), "--episodes", 2),
        "export": ("export", "alone", "--env", env_for("ppo2"), "--out", "alone.pt2"),
        "explain": run(plugin, "ppo2", "--explain"),
        "explain-resume": resume("ppo2", "alone", "--explain"),
        "normalize": (programs / "normalizes.py",),
        "imitate": (programs / "imitates.py",),
        "compile": run(
            *(plugin, "ppo2", "--timesteps", 64, "--plugin", "compile:backend=eager"),
            *("--set", f"{plugin}.check=1", "--out", "compile"),
        ),
        "masks": run(
            plugin, "ppo", *game, "--n-envs", 2, "--timesteps", 128, *equal, "--out", "masks"
        ),
        "border": stopped("AtABorder"),
        "middle": stopped("InTheMiddle"),
        "SIGINT": signalled("SIGINT"),
        "SIGTERM": signalled("SIGTERM"),
        "after-SIGTERM": ("resume", "SIGTERM", *trouble[:2], "--timesteps", 128),
        "refused": run(plugin, "ppo2", "--set", "gamma=2"),
        "no-number": stopped("Spoils", *equal),
        "apart": stopped("Diverges", "--set", f"{plugin}.check=2"),
        "differs": (programs / "differs.py",),
        "other-settings": (programs / "other_settings.py",),
    }


def in_this_process(arguments, folder):
    """`rlk` with these arguments, on one rank; its exit code."""
    before = os.getcwd()
    os.chdir(folder)
    try:
        with pytest.raises(SystemExit) as leaving:
            main(list(map(str, arguments)))
    finally:
        os.chdir(before)
    return leaving.value.code


#: These are done under torchrun in every run of the tests. The other parameter stands for all.
SOME = ("exchange", "same-update", "SIGTERM", "apart")
TORCHRUN, ALL_OF_TORCHRUN = "torch-distributed", "all of torch-distributed"


def of(*job_sets):
    """The test looks at what two ranks have left of all jobs under mpirun, and of these."""
    rest = pytest.param(ALL_OF_TORCHRUN, marks=pytest.mark.launchers)
    return pytest.mark.parametrize("two", ["mpi", *job_sets, rest], indirect=True, scope="session")


def of_each(names, values, some=()):
    """The same for every one of the values; under torchrun for some of them."""
    names = [names] if isinstance(names, str) else names
    rows = [(value,) if len(names) == 1 else value for value in values]
    rows = [
        *[("mpi", *row) for row in rows],
        *[(TORCHRUN, *row) for row in rows if row[0] in some],
        *[pytest.param(ALL_OF_TORCHRUN, *row, marks=pytest.mark.launchers) for row in rows],
    ]
    return pytest.mark.parametrize(("two", *names), rows, indirect=["two"], scope="session")


@pytest.fixture(scope="session")
def two(request, do_jobs, launcher_of, programs):
    """Two ranks have trained every algorithm, resumed, and stopped in every way but by an abort."""
    launcher = launcher_of(request.param.removeprefix("all of "))
    jobs = others(launcher.plugin, programs)
    if request.param == TORCHRUN:
        jobs = {name: arguments for name, arguments in jobs.items() if name in SOME}
    algos = ["ppo2"] if request.param == TORCHRUN else INSTALLED
    jobs = trainings(launcher.plugin, programs, algos) | jobs

    def prepare(folder):
        alone = run(launcher.plugin, "ppo2", "--timesteps", 64, "--out", "alone")
        assert "from-one-rank" not in jobs or in_this_process(alone, folder) == 0

    return do_jobs(f"two ranks, {request.param}", launcher, 2, jobs, prepare)


@pytest.fixture(scope="session")
def three(do_jobs, two, launcher_of, programs):
    """Three ranks have exchanged values and gone on with a run of two."""
    jobs = {
        "exchange": (programs / "exchange.py",),
        "from-two-ranks": resume("ppo2", "alone", "--timesteps", 176),
    }

    def prepare(folder):
        shutil.copytree(two.folder / "alone", folder / "alone")

    return do_jobs(f"three ranks, {two.plugin}", launcher_of(two.plugin), 3, jobs, prepare)


# ---- training ------------------------------------------------------------------------------------


@of_each("algo", INSTALLED, some=["ppo2"])
def test_parameters_are_bit_equal_after_every_update_and_rank_0_writes(two, algo):
    printed = two.printed(algo)
    assert two.code(algo) == 0, printed
    first, second = two.facts(algo)
    assert first["updates"] > 2
    for same in ("updates", "timesteps", "moved", "seed", "control", "episodes", "exploration"):
        assert first[same] == second[same], same
    assert first["timesteps"] == 128, "the environments of both ranks count"
    assert all(a != b for a, b in zip(first["own"], second["own"], strict=True))
    assert first["episodes"][0] == 16, "128 timesteps in episodes of 8"

    assert (first["out"], second["out"]) == (True, False)
    assert first["loggers"] > 0 and second["loggers"] == 0 and second["verbose"] == 0
    assert printed.count("done: 128 timesteps") == 1 and "2 ranks with n_envs=2 each" in printed
    assert two.printed(algo, rank=1) == ""
    files = {path.name for path in (two.folder / algo).iterdir()}
    assert {"plan.json", "progress.csv", "monitor.csv", "model.zip", "checkpoints"} <= files


@of_each("algo", RESUMED, some=["ppo2"])
def test_resumed_ranks_continue_bit_for_bit(two, algo):
    printed = two.printed(f"{algo}-resumed")
    assert two.code(f"{algo}-resumed") == 0 and "no state" not in printed, printed
    whole = saved_files.read(two.folder / f"{algo}-kept.zip", KERNEL)
    resumed = saved_files.read(two.folder / f"{algo}-whole" / "model.zip", KERNEL)
    assert resumed["manifest"]["timesteps"] == whole["manifest"]["timesteps"] == 256
    for name, value in whole["parameters"].items():
        assert value.equal(resumed["parameters"][name]), name
    for part, name in (("streams", "numpy"), ("clock", "episodes"), ("metrics", "episodes")):
        assert resumed[part][name] == whole[part][name], part


@of()
def test_an_unset_seed_is_rank_0s(two):
    assert two.code("unset-seed") == 0, two.printed("unset-seed")
    first, second = two.facts("unset-seed")
    assert first["seed"] == second["seed"]
    (folder,) = (two.folder / "runs").iterdir()
    assert f"-{first['seed']}-" in folder.name


@of(TORCHRUN)
def test_two_ranks_with_half_the_environments_take_the_update_of_one_with_all(
    two, programs, tmp_path, monkeypatch
):
    """Whole trainings of three iterations, with minibatches by environments."""
    assert two.code("same-update") == 0, two.printed("same-update")
    program = programs / "same_update.py"
    monkeypatch.setattr(sys, "argv", [str(program), str(tmp_path / "one.npz"), "1"])
    runpy.run_path(str(program), run_name="__main__")
    of_one, of_two = np.load(tmp_path / "one.npz"), np.load(two.folder / "same-update.npz")
    one, found = of_one["parameters"], of_two["parameters"]
    assert np.allclose(one, found, rtol=1e-4, atol=1e-6), np.abs(one - found).max()
    assert sorted(of_one["returns"]) == sorted(of_two["returns"])


@of()
def test_another_number_of_ranks_continues_and_what_is_lost_is_reported(two, tmp_path, capfd):
    printed = two.printed("from-one-rank")
    assert two.code("from-one-rank") == 0, printed
    assert f"{two.plugin}: rank 1 has no state in the checkpoint" in printed, printed
    mine = shutil.copytree(two.folder / "alone", tmp_path / "alone")
    again = resume("ppo2", mine, "--timesteps", 250)
    assert in_this_process(again, tmp_path) == 0
    assert "the checkpoint has 2 ranks and this run has 1" in capfd.readouterr().err


@of(TORCHRUN)
def test_ranks_exchange_means_values_and_states(two):
    assert two.code("exchange") == 0, two.printed("exchange")
    assert all("all well" in two.printed("exchange", rank) for rank in range(2))


@of()
def test_rank_0_alone_plays_an_evaluation(two):
    assert two.code("evaluate") == 0, two.printed("evaluate")
    assert "mean_return" in two.printed("evaluate") and two.printed("evaluate", rank=1) == ""


@of()
def test_rank_0_alone_exports(two):
    assert two.code("export") == 0, two.printed("export")
    assert "wrote alone.pt2" in two.printed("export") and two.printed("export", rank=1) == ""
    assert (two.folder / "alone.pt2").exists()


@of_each("job", ["explain", "explain-resume"])
def test_rank_0_alone_prints_the_plan(two, job):
    assert two.code(job) == 0, two.printed(job)
    assert two.printed(job).startswith("environment ") and two.printed(job, rank=1) == ""


@pytest.mark.launchers
@of()
def test_three_ranks_exchange_values_and_continue_with_what_two_have_left(two, three):
    assert all("all well" in three.printed("exchange", rank) for rank in range(3))
    printed = three.printed("from-two-ranks")
    assert three.code("from-two-ranks") == 0, printed
    assert f"{two.plugin}: rank 2 has no state in the checkpoint" in printed, printed
    assert "rank 1 has no state" not in printed


@of()
def test_ranks_that_normalise_have_the_statistics_of_what_all_have_seen(two):
    assert two.code("normalize") == 0, two.printed("normalize")
    first, second = two.facts("normalize")
    assert first["shared"] == second["shared"] and first["own"] != second["own"]
    # 192 timesteps of both ranks, the four observations that they began with, and the prior.
    (seen,) = first["shared"]["filter1.observation_count"]
    assert seen == pytest.approx(192 + 4 + 1e-4)
    assert any(first["shared"]["shared.1.running_mean"]), "batch normalisation has seen something"


@of()
def test_ranks_that_imitate_an_expert_learn_one_discriminator_and_one_policy(two):
    assert two.code("imitate") == 0, two.printed("imitate")
    first, second = two.facts("imitate")
    for same in ("gail", "gail_timesteps", "bc", "bc_timesteps", "updates"):
        assert first[same] == second[same], same
    assert first["order"] != second["order"], "each compares with transitions of its own"
    assert first["seen"] == second["seen"] == [2 * 96], "all timesteps, and as many of the expert's"
    assert first["bc_timesteps"] == 2 * 28 and first["updates"] == 2, "an epoch of 28 on each"


@of()
def test_ranks_whose_update_is_one_graph_stay_equal(two):
    printed = two.printed("compile")  # after every iteration, all parameters were compared
    assert two.code("compile") == 0 and "the update of ppo2 is one graph" in printed, printed


@of()
def test_masked_ranks_try_nothing_that_is_forbidden_and_stay_equal(two):
    """Each rank has masks of its own; its game would end the run of all at a forbidden move."""
    assert two.code("masks") == 0, two.printed("masks")
    first, second = two.facts("masks")
    assert first["updates"] == second["updates"] > 2 and first["moved"] == second["moved"]


# ---- stopping ------------------------------------------------------------------------------------


@of()
def test_a_stop_at_a_border_on_one_rank_stops_all(two):
    printed = two.printed("border")
    assert two.code("border") == 0
    assert "stopped by rank 1 has enough (rank 1) after 64 timesteps" in printed, printed


@of()
def test_a_listener_that_stops_one_rank_in_the_middle_of_a_collection_stops_all(two):
    printed = two.printed("middle")
    # Rank 0 made two collections of 16, rank 1 one and 5 steps.
    assert two.code("middle") == 0
    assert "(rlk_step returned False) (rank 1) after 53" in printed, printed


@of_each(("what", "code"), [("SIGINT", 130), ("SIGTERM", 143)], some=["SIGTERM"])
def test_a_signal_to_one_rank_ends_all_at_a_border(two, what, code):
    printed = two.printed(what)
    assert int((two.folder / f"{what}.0.code").read_text()) == code, printed
    assert f"stopped by {what} (rank 1)" in printed, printed
    assert f"continue with: rlk resume {what}" in printed
    assert (two.folder / what / "model.zip").exists()
    assert list((two.folder / what / "checkpoints").iterdir())


@of()
def test_ranks_resume_after_a_signal(two):
    printed = two.printed("after-SIGTERM")
    assert two.code("after-SIGTERM") == 0 and "no state" not in printed, printed
    assert "continues from SIGTERM/checkpoints/96.zip" in printed, printed
    assert "timesteps=128 " in printed and "done: 32 timesteps" in printed


@of()
def test_what_all_ranks_refuse_is_an_ordinary_refusal(two):
    printed = two.printed("refused")
    assert two.code("refused") == 2 and "gamma" in printed, printed
    assert f"\n{two.plugin}:" not in printed


@of()
def test_a_non_finite_loss_on_one_rank_makes_all_skip_that_step_and_stop(two):
    printed = two.printed("no-number")
    # 16 updates make an iteration; the step was skipped on both, or `equal.py` would say so.
    assert two.code("no-number") == 1 and "an error that ends all ranks" in printed, printed
    assert "AssertionError" not in printed
    assert "in update 20 at timestep 64. The parameters are finite" in printed, printed
    assert not (two.folder / "Spoils" / "model.zip").exists()


@of_each("rank", [0, 1], some=[0, 1])
def test_ranks_that_come_apart_are_reported_on_every_rank(two, rank):
    printed = two.printed("apart", rank)
    assert two.code("apart") == 1 and "an error that ends all ranks" in printed, printed
    assert "rank 1 has other parameters than rank 0 in group 'policy' at timestep 64" in printed


@of_each("rank", [0, 1])
def test_ranks_that_are_to_train_differently_are_reported_on_every_rank(two, rank):
    printed = two.printed("differs", rank)
    assert two.code("differs") == 1 and "rank 1 from 0 to 32" in printed, printed
    printed = two.printed("other-settings", rank)
    assert two.code("other-settings") == 1 and "rank 1 with gamma=0.9. R" in printed, printed
