"""What a checkpoint holds of K-FAC, and inverses that a thread computes."""

from __future__ import annotations

import copy
import threading

import pytest
import torch
from torch import nn

from rlk.errors import RlkError
from rlk_kfac import inverses as inverses_module
from rlk_kfac.running_factors import as_state, from_state
from rlk_testing.tools.states import plain, same

X = torch.randn(12, 3, generator=torch.Generator().manual_seed(0))


def likelihood(outputs, prediction=None, weight=1.0):
    signs = torch.ones_like(outputs)
    signs[::2] = -2.0
    return -0.5 * (outputs - (outputs.detach() + signs)).square().sum(1).mean()


@pytest.fixture
def made(small_network):
    def make(**settings):
        torch.manual_seed(0)
        net = nn.Sequential(
            nn.Linear(3, 64), nn.Tanh(), nn.Linear(64, 64), nn.Tanh(), nn.Linear(64, 2)
        )
        given = {"momentum": 0.5, "cold_iter": 2, "epsilon": 0.01, "kfac_clip": 1e-2, **settings}
        return small_network(net, X, lambda y: (y - 1.0).square().mean(), likelihood, **given)

    return make


SETTINGS = [
    {"async_eigen_decomp": in_thread, "kfac_update": every}
    for in_thread in (False, True)
    for every in (1, 3)
]


def from_a_file(state):
    """As a file gives it back: rows after each other, and names in an order of its own."""

    def read(one):
        return torch.tensor(one.tolist()) if isinstance(one, torch.Tensor) else one

    return {
        name: from_a_file(one) if isinstance(one, dict) else read(one)
        for name, one in reversed(state.items())
    }


@pytest.mark.parametrize("settings", SETTINGS, ids=str)
@pytest.mark.parametrize("at", [1, 2, 3, 5])
def test_it_goes_on_from_any_step_bit_for_bit(made, settings, at):
    whole = made(**settings)
    for _ in range(at):
        whole.step()
    state = copy.deepcopy(whole.kfac.state_dict())
    plain(state)
    other = made(**settings)
    other.flat.flat.copy_(whole.flat.flat)
    other.kfac.load_state_dict(from_a_file(state))
    assert same(other.kfac.state_dict(), state)
    for _ in range(5):
        whole.step()
        other.step()
    assert other.flat.flat.equal(whole.flat.flat)
    assert same(other.kfac.state_dict(), whole.kfac.state_dict())


@pytest.mark.parametrize("every", [1, 2])
def test_what_a_thread_gives_is_used_at_the_next_renewal(made, every):
    """So its inverses are those that an immediate one had a renewal before."""
    later = made(async_eigen_decomp=True, kfac_update=every, rate=0.0)
    at_once = made(kfac_update=every, rate=0.0)
    seen = []
    for n in range(2 + 4 * every):
        later.x = at_once.x = (1 + n) * X
        later.step()
        at_once.step()
        seen.append((later.kfac.factors.inverses, at_once.kfac.factors.inverses))
    first = 2  # after the cold steps; nothing was begun before, so it waits for itself
    assert seen[first][0][0, 1][0].equal(seen[first][1][0, 1][0])
    for step in range(first + every, len(seen)):
        before = first + (step - first) // every * every - every
        assert seen[step][0][0, 1][0].equal(seen[before][1][0, 1][0])
        assert not seen[step][0][0, 1][0].equal(seen[step][1][0, 1][0])


def test_a_slow_thread_changes_nothing(made, monkeypatch):
    quick = made(async_eigen_decomp=True)
    for _ in range(6):
        quick.step()
    threads, computed = set(), inverses_module.damped_inverses

    def slow(*arguments):
        threads.add(threading.current_thread().name)
        threading.Event().wait(0.02)
        return computed(*arguments)

    monkeypatch.setattr(inverses_module, "damped_inverses", slow)
    late = made(async_eigen_decomp=True)
    for _ in range(6):
        late.step()
    assert late.flat.flat.equal(quick.flat.flat)
    assert any(name.startswith("kfac") for name in threads)


def with_factors_swapped(state):
    """A and G of a layer in each other's place, and no inverses of it."""
    means = state["factors"]["means"]
    means["0-1"] = {"inner": means["0-1"]["outer"], "outer": means["0-1"]["inner"]}
    del state["factors"]["inverses"]["0-1"], state["coming"]["0-1"]


@pytest.mark.parametrize(
    "damage",
    [
        lambda state: state["factors"]["means"]["0-1"].update(inner=torch.ones(1, 7, 7)),
        lambda state: state["factors"]["means"]["0-1"].update(inner=torch.ones(1, 4, 5)),
        lambda state: state["factors"]["inverses"]["0-1"].update(outer=torch.ones(1, 1, 1)),
        lambda state: state["factors"]["means"].pop("0-1"),
        lambda state: state["coming"].update({"2-3": state["factors"]["means"]["0-1"]}),
        with_factors_swapped,
    ],
)
def test_a_state_of_other_layers_is_refused(made, damage):
    small = made(async_eigen_decomp=True)
    for _ in range(4):
        small.step()
    state = copy.deepcopy(small.kfac.state_dict())
    damage(state)
    with pytest.raises(RlkError, match=r"parameters \("):
        made(async_eigen_decomp=True).kfac.load_state_dict(state)


def test_layers_are_inverted_in_the_order_of_their_parameters(monkeypatch):
    """A file may have them in another order, on which rounding may depend."""
    one, other, last = ((torch.eye(n)[None], torch.eye(n)[None]) for n in (1, 2, 3))
    taken = []
    monkeypatch.setattr(
        inverses_module, "damped_inverses", lambda pairs, epsilon: taken.extend(pairs) or pairs
    )
    found = inverses_module.inverted({(2, 3): last, (0, 1): other, (None, 4): one}, 0.1)
    assert taken == [one, other, last]
    assert found == {(None, 4): one, (0, 1): other, (2, 3): last}


def test_factors_are_restored_to_the_device_of_the_parameters():
    saved = as_state({(0, 1): (torch.eye(3)[None], torch.eye(2)[None])})
    (pair,) = from_state(saved, torch.device("meta")).values()
    assert [one.device.type for one in pair] == ["meta", "meta"]
    (here,) = from_state(saved, torch.device("cpu")).values()
    here[0].zero_()
    assert saved["0-1"]["inner"].equal(torch.eye(3)[None]), "a copy"


def test_no_thread_outlives_its_work(made):
    kfac = made(async_eigen_decomp=True)
    for _ in range(6):
        kfac.step()
    kfac.kfac.state_dict()  # waits for what is being computed
    for thread in threading.enumerate():
        if thread.name.startswith("kfac"):
            thread.join(timeout=10)
            assert not thread.is_alive()


def test_what_fails_in_the_thread_is_raised_where_it_is_awaited(made, monkeypatch):
    kfac = made(async_eigen_decomp=True)
    for _ in range(3):
        kfac.step()

    def fails(*_):
        raise RuntimeError("no inverses")

    monkeypatch.setattr(inverses_module, "damped_inverses", fails)
    with pytest.raises(RuntimeError, match="no inverses"):
        for _ in range(2):
            kfac.step()
