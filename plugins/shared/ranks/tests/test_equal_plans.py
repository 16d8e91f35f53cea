"""Ranks that would train in different ways are refused, on all of them, with what differs."""

from __future__ import annotations

import pytest

from rlk import hookimpl
from rlk.errors import PlanError
from rlk.planning.resolve import resolve
from rlk.planning.spec import make_spec
from rlk.registry.kernel import default_kernel
from rlk_expert_data import generate_expert_traj
from rlk_ranks.equal_plans import check_plans
from rlk_testing.tools.thread_ranks import on_ranks

KERNEL = default_kernel()
CART = "CartPole-v1"


def planned(algo="ppo2", env=CART, **given):
    return resolve(KERNEL, make_spec(algo, {"env": env, "n_envs": 2, **given}))


def said(*plans):
    """What the check says on each rank; None for a rank where it passes."""
    found = [None for _ in plans]

    def work(rank):
        rank.name = "mpi"
        try:
            check_plans(plans[rank.rank], rank)
        except PlanError as error:
            found[rank.rank] = str(error)

    on_ranks(len(plans), work)
    return found


@pytest.mark.parametrize(
    ("other", "first", "second"),
    [
        ({"n_envs": 3}, "n_envs=2", "n_envs=3"),
        ({"n_steps": 8}, "n_steps=128", "n_steps=8"),
        ({"learning_rate": "lin_0.1"}, "learning_rate=0.00025", 'learning_rate="linear_0.1"'),
        ({"policy": {"layers": [8]}}, "mlp.layers=[64, 64]", "mlp.layers=[8]"),
        ({"optimiser": "rmsprop"}, "optimiser=adam", "optimiser=rmsprop"),
        ({"plugins": ["adam:betas=[0.5,0.9]"]}, "adam.betas=null", "adam.betas=[0.5, 0.9]"),
        ({"plugins": ["normalize"]}, "no wrapper", "wrapper=normalize"),
        ({"plugins": ["compile"]}, "no extension", "extension=compile"),
        ({"algo": "a2c"}, "algorithm=ppo2", "algorithm=a2c"),
        ({"env": "Acrobot-v1"}, "space=Box((4,), float32)", "space=Box((6,), float32)"),
        ({"log_interval": 5}, "log_interval=1", "log_interval=5"),
    ],
)
def test_what_differs_is_refused_on_all_ranks(other, first, second):
    texts = said(planned(), planned(), planned(**other))
    assert len({*texts}) == 1 and texts[0] is not None
    start = texts[0].partition(". Ranks train one policy")[0]
    assert start.startswith("plugin 'mpi' (rlk-mpi): rank 0 is to train with "), start
    assert first in start and start.endswith(second) and ", rank 2 with " in start


@pytest.mark.parametrize(
    ("algo", "env", "plugins", "first", "second"),
    [
        ("dqn", CART, ("", "n-step:n_steps=5"), "no decorator", "decorator=n-step"),
        (
            "dqn",
            CART,
            ("n-step:n_steps=2", "n-step:n_steps=5"),
            "n-step.n_steps=2",
            "n-step.n_steps=5",
        ),
        ("ddpg", "Pendulum-v1", ("", "param-noise"), "no noise", "noise=adaptive-parameter-noise"),
        (
            "ppo2",
            CART,
            ("normalize:clip_reward=10.0", "normalize:clip_reward=1.0"),
            "normalize.clip_reward=10.0",
            "normalize.clip_reward=1.0",
        ),
    ],
)
def test_plugins_of_one_rank_and_their_settings_are_refused(algo, env, plugins, first, second):
    texts = said(*(planned(algo, env, plugins=[one] if one else []) for one in plugins))
    assert texts[0] == texts[1] is not None
    assert f"rank 0 is to train with {first}, rank 1 with " in texts[0]
    assert f"with {second}. Ranks train one policy" in texts[0]


class Listener:
    """A plugin of one rank."""

    @hookimpl
    def rlk_step(self):
        pass


@pytest.mark.parametrize(
    "own",
    [
        {"seed": 3, "device": "cpu", "n_threads": 1, "verbose": 1, "vec_env": "subprocess"},
        {"out": "somewhere"},  # what watches a run with a folder joins
        {"plugins": ["evaluation", Listener()]},
        {"plugins": ["monitor:filename=mine", "no:numpy-acting"]},
        {"env": "rlk_testing.environments:DiscreteMatch", "env.length": 4},
    ],
)
def test_what_a_rank_may_have_of_its_own_is_allowed(own):
    plain = {"env": own["env"]} if "env" in own else {}
    assert said(planned(**plain), planned(**own)) == [None, None]


@pytest.mark.parametrize(
    ("algo", "reads_or_writes"),
    [("ppo2", "gail-reward:expert_path"), ("dqn", "replay:mapped")],
)
def test_a_rank_may_name_files_of_its_own(tmp_path, algo, reads_or_writes):
    plans = []
    for rank in range(2):
        path = tmp_path / f"of-rank-{rank}.npz"
        generate_expert_traj(lambda seen: 0, path, CART, n_episodes=1)
        plans.append(planned(algo, plugins=[f"{reads_or_writes}={path}"]))
    assert said(*plans) == [None, None]


def test_functions_are_equal_by_their_names_wherever_they_are_in_memory():
    def encoder(space):
        return None

    one = planned(policy={"encoder": encoder})
    again = planned(policy={"encoder": lambda space: None})
    assert said(one, one) == [None, None]
    assert "encoder" in said(one, again)[0]
