"""Two ranks train: any algorithm, with the same bits on both after every update."""

from __future__ import annotations

import json

import numpy as np
import pytest

from rlk.registry.kernel import Kernel
from rlk_testing.environments import BY_ACTION_SPACE

#: Small enough that a training takes a second. `sac` and `trpo` join where they are installed.
SMALL = {
    "dqn": ("learning_starts=16", "batch_size=8", "target_network_update_freq=20"),
    "ppo2": ("n_steps=16",),
    "sac": ("learning_starts=16", "batch_size=8"),
    "trpo": ("timesteps_per_batch=16",),
}
INSTALLED = sorted(set(SMALL) & set(Kernel().registries.algorithms.names()))


def arguments(algo, *more):
    served = Kernel().registries.algorithms.get(algo).component().action_spaces
    settings = [word for one in (*SMALL[algo], "policy.layers=[16]") for word in ("--set", one)]
    env = BY_ACTION_SPACE["Discrete" if "Discrete" in served else "Box"]
    run = ("run", "--algo", algo, "--env", env, "--plugin", "mpi", "--preset", "none", "--seed", 5)
    return (*run, *settings, *more)


@pytest.mark.parametrize("algo", INSTALLED)
def test_parameters_are_bit_equal_after_every_update_and_rank_0_writes(
    ranks, programs, algo, monkeypatch
):
    monkeypatch.setenv("FACTS", str(ranks.folder))
    more = ("--timesteps", 128, "--n-envs", 2, "--out", "run", "--plugin", programs / "equal.py")
    code, printed = ranks.rlk(*arguments(algo, *more))
    assert code == 0, printed
    first, second = (json.loads((ranks.folder / f"{r}.json").read_text()) for r in (0, 1))

    assert first["updates"] > 2
    for same in ("updates", "timesteps", "moved", "seed", "control", "episodes"):
        assert first[same] == second[same], same
    assert first["timesteps"] == 128, "the environments of both ranks count"
    assert all(one != two for one, two in zip(first["own"], second["own"], strict=True))
    assert first["episodes"][0] == 16, "128 timesteps in episodes of 8"

    assert (first["out"], second["out"]) == (True, False)
    assert first["loggers"] > 0 and second["loggers"] == 0 and second["verbose"] == 0
    assert printed.count("done: 128 timesteps") == 1 and "2 ranks with 2 environments" in printed
    files = {path.name for path in (ranks.folder / "run").iterdir()}
    assert {"plan.json", "progress.csv", "monitor.csv", "model.zip", "checkpoints"} <= files
    assert sorted(path.name for path in ranks.folder.iterdir()) == ["0.json", "1.json", "run"]


def test_an_unset_seed_is_rank_0s(ranks, programs, monkeypatch):
    monkeypatch.setenv("FACTS", str(ranks.folder))
    program = ("run", "--algo", "ppo2", "--env", BY_ACTION_SPACE["Discrete"], "--plugin", "mpi")
    more = ("--timesteps", 64, "--plugin", programs / "equal.py", "--set", "n_steps=16", "--quiet")
    code, printed = ranks.rlk(*program, *more)
    assert code == 0, printed
    first, second = (json.loads((ranks.folder / f"{r}.json").read_text()) for r in (0, 1))
    assert first["seed"] == second["seed"]
    (folder,) = (ranks.folder / "runs").iterdir()
    assert f"-{first['seed']}-" in folder.name


def test_two_ranks_with_half_the_environments_take_the_update_of_one_with_all(ranks, programs):
    """Whole trainings of three iterations, with minibatches by environments."""
    found = {}
    for size in (1, 2):
        path = ranks.folder / f"{size}.npz"
        code, printed = ranks.run(programs / "same_update.py", path, size, size=size)
        assert code == 0, printed
        found[size] = np.load(path)
    one, two = found[1]["parameters"], found[2]["parameters"]
    assert np.allclose(one, two, rtol=1e-4, atol=1e-6), np.abs(one - two).max()
    assert sorted(found[1]["returns"]) == sorted(found[2]["returns"])


@pytest.mark.parametrize("algo", INSTALLED)
def test_resumed_ranks_go_on_bit_for_bit(ranks, algo):
    from rlk.running import checkpoint

    more = ("--timesteps", 256, "--n-envs", 2, "--plugin", "checkpoint:every=128", "--out", "run")
    code, printed = ranks.rlk(*arguments(algo, *more), "--quiet")
    assert code == 0, printed
    model = ranks.folder / "run" / "model.zip"
    whole = checkpoint.read(model, Kernel())
    model.unlink()
    resume = ("resume", "--env", arguments(algo)[4])
    code, printed = ranks.rlk(*resume, "run/checkpoints/128.zip")
    assert code == 0 and "mpi:" not in printed, printed
    resumed = checkpoint.read(model, Kernel())
    assert resumed["manifest"]["timesteps"] == whole["manifest"]["timesteps"] == 256
    for name, value in whole["parameters"].items():
        assert value.equal(resumed["parameters"][name]), name
    assert resumed["streams"]["numpy"] == whole["streams"]["numpy"]


def test_another_number_of_ranks_goes_on_and_what_is_lost_is_said(ranks):
    code, printed = ranks.rlk(*arguments("ppo2", "--timesteps", 64, "--out", "run", "--quiet"))
    assert code == 0, printed
    resume = ("resume", "--env", arguments("ppo2")[4], "run", "--timesteps")
    code, printed = ranks.rlk(*resume, 150, size=3)
    assert code == 0 and "mpi: rank 2 has no state in the checkpoint" in printed, printed
    assert "rank 1 has no state" not in printed
    code, printed = ranks.rlk(*resume, 200, size=1)
    assert code == 0 and "the checkpoint is of 3 ranks, and 1 go on" in printed, printed
    code, printed = ranks.rlk(*resume, 250, size=2)
    assert code == 0 and "mpi: rank 1 has no state in the checkpoint" in printed, printed


def test_what_ranks_say_to_each_other(ranks, programs):
    code, printed = ranks.run(programs / "exchange.py", size=3)
    assert code == 0 and printed.count("all well") == 3, printed


@pytest.mark.skipif("normalize" not in Kernel().registries.wrappers, reason="needs rlk-wrappers")
def test_ranks_that_normalise_have_the_statistics_of_what_all_have_seen(ranks, programs):
    code, printed = ranks.run(programs / "normalizes.py", ranks.folder)
    assert code == 0, printed
    first, second = (json.loads((ranks.folder / f"{r}.json").read_text()) for r in (0, 1))
    assert first["shared"] == second["shared"] and first["own"] != second["own"]
    # 192 timesteps of both ranks, the four observations that they began with, and the prior.
    (seen,) = first["shared"]["filter1.observation_count"]
    assert seen == pytest.approx(192 + 4 + 1e-4)
