"""Every installed algorithm with `compile` gives the numbers of eager updates, or says why not."""

from __future__ import annotations

import copy
import re
from typing import Any

import pytest
import torch
from compiled_runs import compiled
from gru import gru

import rlk
from rlk.registry.kernel import Kernel
from rlk_testing.environments import BY_ACTION_SPACE
from rlk_testing.tools.small_settings import small_settings

KERNEL = Kernel()
#: Algorithms that step environments; those that learn from an expert's file have their own tests.
COMPONENTS = {
    entry.name: entry.component()
    for entry in KERNEL.registries["algorithms"]
    if entry.component().collects != "offline"
}
#: Algorithms whose optimiser branches on values, which no graph can -> the key of those updates,
#: and how the reason begins. All other updates must be traced.
EAGER = {
    "trpo": ("pi", ""),
    "acktr": ("", "optimiser 'kfac' (rlk-kfac) finds layers by watching"),
}
STEPS = 96
#: A name that Dynamo makes up from the `id` of an object: no other process has it.
MADE_UP = re.compile(r"_\d{9,}")


def algorithms() -> list[Any]:
    """(name, environment) for each installed algorithm and the first action space that it declares.

    PPO2 is tested with all of its action spaces, because a distribution is the same in every graph.
    """
    served = {
        name: [space for space in BY_ACTION_SPACE if space in component.action_spaces]
        for name, component in COMPONENTS.items()
    }
    return [
        pytest.param(name, BY_ACTION_SPACE[space], id=f"{name}-{space}")
        for name, spaces in served.items()
        for space in spaces[: None if name == "ppo2" else 1]
    ]


def small(name: str) -> dict[str, Any]:
    """Settings with which an algorithm updates within `STEPS`; two layers of 16."""
    settings = small_settings(COMPONENTS[name].config)
    return {**settings, "seed": 4, "n_threads": 1, "policy": {"layers": [16]}}


def batches_of(name: str, **settings: Any) -> list[Any]:
    """The batches of a short eager training, in order."""
    seen: list[Any] = []
    with rlk.make(name, **settings) as agent:
        update = agent.run.update

        def recorded(batch: Any, optimise: Any) -> Any:
            seen.append(copy.deepcopy(batch))
            return update(batch, optimise)

        agent.run.update = recorded
        agent.learn(STEPS)
    assert len(seen) >= 3, "give smaller settings: it hardly updates"
    return seen


def after(name: str, batches: list[Any], **settings: Any) -> tuple[Any, list[Any], torch.Tensor]:
    """The plugin `compile`, the reports of updates with these batches, and the last parameters."""
    with rlk.make(name, **settings) as agent:
        run = agent.run
        updates = [run.update(batch, run.optimise) for batch in batches]
        return run.hooks.get("compile"), updates, run.parameters.flat.clone()


def close(one: torch.Tensor, other: torch.Tensor) -> bool:
    return torch.allclose(one, other, rtol=1e-3, atol=1e-5)


def same_numbers(name: str, env: str, backend: str, **more: Any) -> Any:
    """The compiled update, after asserting that its steps and reports are those of the eager one.

    If the algorithm reports TD errors, prioritized replay is used, so importance weights are tested
    as well.
    """
    settings = {"env": env, **small(name), **more}
    if (
        "td_error" in COMPONENTS[name].reports
        and "prioritized-replay" in KERNEL.registries.storages
    ):
        settings["plugins"] = ["prioritized-replay"]
    compiled_by = {"backend": backend, **settings.pop("compile", {})}
    batches = batches_of(name, **settings)
    _, expected, parameters = after(name, batches, **settings)
    plugins = [*settings.pop("plugins", []), "compile"]
    told = {**settings, "plugins": plugins, "compile": compiled_by}
    plugin, found, reached = after(name, batches, **told)
    update = plugin.update
    assert close(reached, parameters)
    for one, other in zip(found, expected, strict=True):
        assert list(one.metrics) == list(other.metrics)
        for tag, value in other.metrics.items():
            assert close(one.metrics[tag], value), tag
        assert (one.td_error is None) == (other.td_error is None)
        if other.td_error is not None:
            assert close(one.td_error, other.td_error)
    if name in EAGER:  # the policy's step; the value's may well be a graph
        kind, reason = EAGER[name]
        assert update.reasons[kind].startswith(reason)
        assert not any(key == kind for key, _ in update.reports)
    else:
        assert update.reports and not update.reasons, update.reasons
    programs = [program for several in update._programs.values() for program in several]
    watched = [place for program in programs for place in program.call_plan.conditions]
    assert not [place for place in watched if MADE_UP.search(place)], "never found again"
    return update


@pytest.mark.parametrize(("name", "env"), algorithms())
def test_an_algorithm_is_traced_to_the_same_numbers(name: str, env: str) -> None:
    same_numbers(name, env, "eager")


def test_a_limit_on_the_divergence_is_a_part_of_the_graph() -> None:
    same_numbers("ppo", BY_ACTION_SPACE["Discrete"], "eager", target_kl=1e-4)


@pytest.mark.parametrize("more", [{}, {"gsde.squash_output": True, "gsde.use_expln": True}])
def test_state_dependent_exploration_is_a_part_of_the_graph(more: Any) -> None:
    same_numbers("ppo", BY_ACTION_SPACE["Box"], "eager", distribution="gsde", **more)


def test_state_dependent_exploration_of_sac_is_a_part_of_the_graph() -> None:
    """Here the entropy coefficient is fixed; in the tests above it is learnt."""
    same_numbers("sac", BY_ACTION_SPACE["Box"], "eager", use_sde=True, ent_coef=0.1)


@pytest.mark.compiles
@pytest.mark.parametrize("ent_coef", ["auto", 0.1])
def test_state_dependent_exploration_of_sac_compiles_to_the_same_numbers(ent_coef: Any) -> None:
    more = {"use_sde": True, "ent_coef": ent_coef, "compile": {"passes": []}}
    same_numbers("sac", BY_ACTION_SPACE["Box"], "inductor", **more)


POPART = {
    "normalize_returns": True,
    "enable_popart": True,
    "normalize_observations": True,
    "critic_l2_reg": 0.01,
    "return_range": (-2.0, 2.0),
}


def test_popart_and_statistics_are_a_part_of_the_graph() -> None:
    same_numbers("ddpg", BY_ACTION_SPACE["Box"], "eager", **POPART)


@pytest.mark.compiles
def test_popart_compiles_to_the_same_numbers() -> None:
    more = {**POPART, "compile": {"passes": []}}
    same_numbers("ddpg", BY_ACTION_SPACE["Box"], "inductor", **more)


GAME = "rlk_testing.environments:MaskedGame"


@pytest.mark.parametrize("action", ["Discrete", "MultiBinary"])
def test_masks_are_a_part_of_the_graph(action: str) -> None:
    same_numbers("ppo2", GAME, "eager", plugins=["action-masking"], **{"env.action": action})


def test_the_beta_distribution_is_a_part_of_the_graph() -> None:
    same_numbers("ppo2", BY_ACTION_SPACE["Box"], "eager", distribution="beta")


@pytest.mark.compiles
def test_the_beta_distribution_compiles_to_the_same_numbers() -> None:
    more = {"distribution": "beta", "compile": {"passes": []}}
    same_numbers("ppo2", BY_ACTION_SPACE["Box"], "inductor", **more)


@pytest.mark.compiles
@pytest.mark.parametrize("action", ["Discrete", "MultiBinary"])
def test_masks_compile_to_the_same_numbers(action: str) -> None:
    more = {"env.action": action, "compile": {"passes": []}}
    same_numbers("ppo2", GAME, "inductor", plugins=["action-masking"], **more)


@pytest.mark.compiles
@pytest.mark.parametrize(("name", "env"), algorithms())
def test_an_algorithm_compiles_to_the_same_numbers(name: str, env: str) -> None:
    update = same_numbers(name, env, "inductor", compile={"passes": []})
    assert all(report.strategy == "inductor, ahead of time" for report in update.reports.values())


@pytest.mark.compiles  # `test_update.py` has it for the stand-in, with backend=eager
@pytest.mark.parametrize("name", [n for n in COMPONENTS if n not in EAGER])
@pytest.mark.parametrize("backend", ["eager", "inductor"])
def test_two_compiled_runs_of_one_seed_are_equal_bit_for_bit(name: str, backend: str) -> None:
    env = BY_ACTION_SPACE[COMPONENTS[name].action_spaces[0]]
    ends = []
    for _ in range(2):
        settings = {**small(name), "plugins": ["compile"], "compile": {"backend": backend}}
        with rlk.make(name, env=env, **settings) as agent:
            agent.learn(STEPS)
            assert compiled(agent).reports, compiled(agent).reasons
            ends.append(agent.run.parameters.flat.clone())
    assert ends[0].equal(ends[1])


RECURRENT = [name for name, component in COMPONENTS.items() if component.recurrent]
#: Whole environments or sequences must fill each minibatch of a recurrent policy.
SEQUENCES = {"n_envs": 2, "policy": gru}


#: Only with `matrix_full`: the same library gives them their sequences as it does to `ppo`, and
#: their losses are traced above.
LIKE_PPO = ("a2c", "ppo2")


def recurrent() -> list[Any]:
    """The recurrent algorithms, those that are like another one marked."""
    return [
        pytest.param(name, marks=[pytest.mark.matrix_full] if name in LIKE_PPO else [])
        for name in RECURRENT
    ]


@pytest.mark.parametrize("name", recurrent())
def test_a_recurrent_policy_of_plain_operations_is_a_part_of_the_graph(name: str) -> None:
    same_numbers(name, BY_ACTION_SPACE["Discrete"], "eager", **SEQUENCES)


@pytest.mark.compiles
@pytest.mark.parametrize("name", [name for name in RECURRENT if name not in EAGER])
def test_a_recurrent_policy_of_plain_operations_compiles_to_the_same_numbers(name: str) -> None:
    more = {**SEQUENCES, "compile": {"passes": []}}
    same_numbers(name, BY_ACTION_SPACE["Discrete"], "inductor", **more)


def test_a_policy_with_an_lstm_runs_eagerly_for_a_reason_of_its_own(
    capfd: pytest.CaptureFixture[str],
) -> None:
    for policy in ("lstm", "ln-lstm"):
        plugins = ["compile"]
        with rlk.make("a2c", policy=policy, n_envs=2, plugins=plugins, verbose=1) as agent:
            assert agent.run.hooks.get("compile").update is None
        said = capfd.readouterr().err
        assert f"the update of a2c runs eagerly: policy '{policy}' (rlk-lstm " in said
        assert ") cuts sequences where episodes start, so every batch would be" in said


@pytest.mark.gpu
@pytest.mark.usefixtures("rlk_gpu")
@pytest.mark.parametrize(("name", "env"), algorithms())
def test_a_gpu_replays_an_algorithm_to_the_same_numbers(name: str, env: str) -> None:
    update = same_numbers(name, env, "inductor", device="cuda")
    strategies = {report.strategy for report in update.reports.values()}
    assert strategies <= {"inductor, Python wrapper, CUDA graph"}


ON_GPU = {
    "sac with gsde": ("sac", BY_ACTION_SPACE["Box"], {"use_sde": True}),
    "ppo with gsde": ("ppo", BY_ACTION_SPACE["Box"], {"distribution": "gsde"}),
    "ppo with a limit": ("ppo", BY_ACTION_SPACE["Discrete"], {"target_kl": 1e-4}),
    "ppo2 with beta": ("ppo2", BY_ACTION_SPACE["Box"], {"distribution": "beta"}),
    "ppo2 with masks": (
        "ppo2",
        GAME,
        {"plugins": ["action-masking"], "env.action": "MultiBinary"},
    ),
    "ddpg with Pop-Art": ("ddpg", BY_ACTION_SPACE["Box"], POPART),
}


@pytest.mark.gpu
@pytest.mark.usefixtures("rlk_gpu")
@pytest.mark.parametrize(("name", "env", "more"), ON_GPU.values(), ids=ON_GPU)
def test_a_gpu_replays_other_settings_to_the_same_numbers(name: str, env: str, more: Any) -> None:
    update = same_numbers(name, env, "inductor", device="cuda", **more)
    assert {one.strategy for one in update.reports.values()} == {
        "inductor, Python wrapper, CUDA graph"
    }


@pytest.mark.gpu
@pytest.mark.usefixtures("rlk_gpu")
@pytest.mark.parametrize("name", [n for n in COMPONENTS if n not in EAGER])
def test_two_replayed_runs_of_one_seed_are_equal_bit_for_bit(name: str) -> None:
    env = BY_ACTION_SPACE[COMPONENTS[name].action_spaces[0]]
    ends = []
    for _ in range(2):
        settings = {**small(name), "plugins": ["compile"], "device": "cuda"}
        with rlk.make(name, env=env, **settings) as agent:
            agent.learn(STEPS)
            assert compiled(agent).reports, compiled(agent).reasons
            ends.append(agent.run.parameters.flat.clone())
    assert ends[0].equal(ends[1])
