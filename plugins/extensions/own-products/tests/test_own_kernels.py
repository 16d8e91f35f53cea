"""Our own kernels in updates that are not compiled: what they compute, and when they are used."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor
from torch.autograd.profiler import profile

import rlk
from rlk.hookspecs import hookimpl
from rlk_cpp_libraries import Unbuilt, compiler
from rlk_own_products import extension, native
from rlk_own_products.native import COLUMNS, NUMBERS, WORK
from rlk_testing import ExtensionContract

HAVE = torch.backends.cpu.get_cpu_capability() == "AVX512" and compiler() is not None
needs_them = pytest.mark.skipif(not HAVE, reason="wants AVX-512 and a C++ compiler")
#: Just large enough for our products: 128 x 64 by 64 x 64.
ROWS, SIZE = WORK // 64**2, 64
#: Operators that our kernels call, and that torch's kernels of products call.
OURS, THEIRS = {"aten::empty", "aten::empty_like"}, {"aten::resolve_conj"}
LARGE = {"policy": {"layers": [SIZE, SIZE]}, "batch_size": ROWS, "learning_starts": 150}


class TestOwnKernels(ExtensionContract):
    component = "own-kernels"


@pytest.fixture
def switch() -> Iterator[Callable[[bool], bool]]:
    use = native.eager()
    yield use
    use(False)


@pytest.fixture
def on(switch: Callable[[bool], bool]) -> None:
    switch(True)


@pytest.fixture
def this_processor(monkeypatch: pytest.MonkeyPatch) -> None:
    """One for which they are known to be faster."""
    monkeypatch.setattr(native, "suits_this_processor", lambda: True)


def same(found: Tensor, expected: Tensor) -> bool:
    """Whether it is what float32 rounds of a sum of 64 products."""
    return found.shape == expected.shape and torch.allclose(found.double(), expected, atol=2e-5)


def is_own(operator: Callable[..., Tensor], *operands: Tensor, **numbers: Any) -> bool:
    """Whether our own kernel computes it, by the operators that it calls in turn."""
    with profile() as record:
        operator(*operands, **numbers)
    called = {event.name for event in record.function_events}
    return not called.isdisjoint(OURS) and called.isdisjoint(THEIRS)


# ---- products ------------------------------------------------------------------------------------


@needs_them
@pytest.mark.usefixtures("on")
@pytest.mark.parametrize("transposed", [False, True])
def test_products_are_those_of_double_numbers(transposed: bool) -> None:
    torch.manual_seed(0)
    x, w, bias = torch.randn(ROWS, SIZE), torch.randn(SIZE, SIZE), torch.randn(SIZE)
    xs, ws = torch.randn(2, ROWS, SIZE), torch.randn(2, SIZE, SIZE)
    if transposed:
        x, w, xs, ws = (each.mT.contiguous().mT for each in (x, w, xs, ws))
    exact = x.double() @ w.double()
    assert same(torch.mm(x, w), exact)
    assert same(torch.addmm(bias, x, w), exact + bias)
    assert same(torch.addmm(bias[:1], x, w), exact + bias[0])
    exacts = xs.double() @ ws.double()
    assert same(torch.bmm(xs, ws), exacts)
    biases = torch.randn(2, 1, SIZE)
    assert same(torch.baddbmm(biases, xs, ws), exacts + biases)
    full = torch.randn(2, ROWS, SIZE)
    before = full.clone()
    assert same(torch.baddbmm(full, xs, ws), exacts + full)
    assert torch.equal(full, before), "the bias is only read"


@needs_them
def test_what_they_are_for(switch: Callable[[bool], bool]) -> None:
    x, w, bias = torch.randn(ROWS, SIZE), torch.randn(SIZE, SIZE), torch.randn(SIZE)
    xs, ws, wide = x.expand(2, ROWS, SIZE), w.expand(2, SIZE, SIZE), torch.randn(NUMBERS // 64, 64)
    for on in True, False:
        switch(on)
        assert is_own(torch.mm, x, w) is is_own(torch.addmm, bias, x, w) is on
        assert is_own(torch.bmm, xs, ws) is is_own(torch.baddbmm, xs, xs, ws) is on
        assert is_own(torch.mm, torch.randn(8, len(wide)), wide) is on
        assert is_own(torch.mm, x[:1], w[:, :2]) is is_own(torch.mm, x, w.T[:, :COLUMNS]) is on
        assert is_own(torch.tanh, x) is on


@needs_them
@pytest.mark.usefixtures("on")
def test_what_they_are_not_for() -> None:
    x, w, bias = torch.randn(ROWS, SIZE), torch.randn(SIZE, SIZE), torch.randn(SIZE)
    gaps = torch.randn(2 * ROWS, 2 * SIZE)[::2, ::2]
    assert not is_own(torch.mm, x, w[:, :1])
    assert not is_own(torch.mm, x, w.T[:, : COLUMNS - 1]), "narrow, and by columns"
    wide = torch.randn(NUMBERS // 64 + 1, 64)
    assert not is_own(torch.mm, torch.randn(8, len(wide)), wide)
    assert not is_own(torch.mm, gaps, w) and not is_own(torch.mm, x.double(), w.double())
    assert not is_own(torch.addmm, bias, x, w, beta=0.5)
    assert not is_own(torch.addmm, bias, x, w, alpha=2)
    assert not is_own(torch.tanh, gaps) and not is_own(torch.tanh, x.double())


@needs_them
@pytest.mark.usefixtures("on")
def test_what_does_not_fit_is_refused_in_torchs_words() -> None:
    x, w = torch.randn(ROWS, SIZE), torch.randn(SIZE, SIZE)
    with pytest.raises(RuntimeError, match="cannot be multiplied"):
        torch.mm(x, w[1:])
    with pytest.raises(RuntimeError, match="batch"):
        torch.bmm(x.expand(2, ROWS, SIZE), w.expand(3, SIZE, SIZE))
    with pytest.raises(RuntimeError, match="expand"):
        torch.addmm(torch.randn(SIZE - 1), x, w)
    with pytest.raises(RuntimeError, match="dtype"):
        torch.mm(x, w.double())


@needs_them
@pytest.mark.usefixtures("on")
def test_long_sums_are_as_exact_as_short_ones() -> None:
    torch.manual_seed(0)
    x, w = torch.rand(16, NUMBERS // SIZE), torch.rand(NUMBERS // SIZE, SIZE)
    exact = x.double() @ w.double()
    assert ((torch.mm(x, w) - exact) / exact).abs().max() < 1e-6


@needs_them
@pytest.mark.usefixtures("on")
def test_where_there_is_nothing_to_multiply_the_result_is_zeros() -> None:
    x, w = torch.randn(5, 0), torch.randn(0, SIZE)
    empty = torch.randn(0, SIZE), torch.randn(SIZE, SIZE, requires_grad=True)
    bias = torch.randn(SIZE)
    used = [torch.ones(5, SIZE), torch.ones(2, 5, SIZE), torch.ones(SIZE, SIZE)]
    del used  # the results are in this memory, which is not zero
    assert not torch.mm(x, w).any()
    assert not torch.bmm(x.expand(2, 5, 0), w.expand(2, 0, SIZE)).any()
    assert torch.equal(torch.addmm(bias, x, w), bias.expand(5, SIZE))
    torch.mm(*empty).square().sum().backward()
    assert not empty[1].grad.any()


@needs_them
@pytest.mark.usefixtures("on")
def test_gradients_are_those_of_double_numbers() -> None:
    torch.manual_seed(0)
    numbers = torch.randn(ROWS, SIZE), torch.randn(SIZE, SIZE), torch.randn(SIZE)
    gradients: list[Sequence[Tensor]] = []
    for dtype in torch.float32, torch.float64:
        x, w, bias = inputs = [each.to(dtype).requires_grad_() for each in numbers]
        loss = torch.addmm(bias, x, w).div(8).tanh().square().sum()
        gradients.append(torch.autograd.grad(loss, inputs))
    for found, exact in zip(*gradients, strict=True):
        assert same(found, exact)


# ---- tanh ----------------------------------------------------------------------------------------


@needs_them
@pytest.mark.usefixtures("on")
def test_tanh_is_right_to_four_units_of_its_last_digit() -> None:
    line = torch.linspace(-11, 11, 40_001)
    small = torch.logspace(-37, 0, 5_001)
    x = torch.cat([line, small, -small])
    exact = np.tanh(x.double().numpy())
    error = np.abs(torch.tanh(x).numpy() - exact) / np.spacing(np.abs(exact).astype(np.float32))
    assert error.max() < 4


@needs_them
@pytest.mark.usefixtures("on")
def test_tanh_of_special_numbers() -> None:
    x = torch.tensor([0.0, -0.0, torch.inf, -torch.inf, torch.nan, 1e-42])
    found = torch.tanh(x)
    assert found[:4].tolist() == [0.0, 0.0, 1.0, -1.0] and found[4].isnan()
    assert torch.equal(found[:2].signbit(), torch.tensor([False, True]))
    assert 0 < found[5] <= x[5]
    assert torch.tanh(torch.empty(0, 3)).shape == (0, 3)
    assert x.tanh_() is x and torch.equal(x[:4], found[:4])


# ---- when they are used --------------------------------------------------------------------------


@needs_them
@pytest.mark.usefixtures("on")
def test_another_thread_does_not_use_them() -> None:
    torch.manual_seed(0)
    x, found = torch.randn(ROWS, SIZE), []
    other = threading.Thread(target=lambda: found.append(torch.tanh(x)))
    other.start()
    other.join()
    ours = torch.tanh(x)
    native.eager()(False)
    assert torch.equal(found[0], torch.tanh(x)) and not torch.equal(found[0], ours)


@pytest.mark.usefixtures("this_processor")
@needs_them
def test_updates_use_them_and_nothing_else_does() -> None:
    x, where = torch.randn(ROWS, SIZE), {}
    torchs = torch.tanh(x)

    class Asks:
        @hookimpl
        def rlk_wrap_update(self) -> Any:
            def wrap(update: Any) -> Any:
                def asks(batch: Any, optimise: Any) -> Any:
                    where["update"] = torch.equal(torch.tanh(x), torchs)
                    return update(batch, optimise)

                return asks

            return wrap

        @hookimpl
        def rlk_update_end(self) -> None:
            where["update end"] = torch.equal(torch.tanh(x), torchs)

    with rlk.make("dqn", env="CartPole-v1", plugins=[Asks()], seed=1, **LARGE) as agent:
        agent.learn(160)
    assert where == {"update": False, "update end": True}


@pytest.mark.usefixtures("this_processor")
@needs_them
def test_training_is_the_same_to_rounding() -> None:
    # With tanh, because some processors' library adds the products in the same order.
    given: Any = LARGE | {"policy": {"layers": [SIZE, SIZE], "act_fun": "tanh"}}
    found = []
    for plugins in [], ["no:own-kernels"]:
        with rlk.make("dqn", env="CartPole-v1", plugins=plugins, seed=1, **given) as agent:
            agent.learn(170)
            found.append(agent.run.parameters.flat.clone())
    assert torch.allclose(*found, atol=1e-5) and not torch.equal(*found)


@pytest.mark.usefixtures("this_processor")
@needs_them
def test_a_resumed_run_is_the_same_bit_for_bit(tmp_path: Any) -> None:
    with rlk.make("dqn", env="CartPole-v1", seed=1, **LARGE) as agent:
        agent.learn(170)
        path = agent.save_checkpoint(tmp_path / "here")
        agent.learn(20, reset_num_timesteps=False)
        expected = agent.run.parameters.flat.clone()
    with rlk.load(path) as agent:
        agent.learn(20, reset_num_timesteps=False)
        assert torch.equal(agent.run.parameters.flat, expected)


@pytest.mark.usefixtures("this_processor")
@needs_them
def test_an_agent_that_learns_in_the_update_of_another_leaves_them_on() -> None:
    x, found = torch.randn(ROWS, SIZE), []
    torchs = torch.tanh(x)

    class Learns:
        @hookimpl
        def rlk_wrap_update(self) -> Any:
            def wrap(update: Any) -> Any:
                def learns(batch: Any, optimise: Any) -> Any:
                    with rlk.make("dqn", env="CartPole-v1", seed=2, **LARGE) as inner:
                        inner.learn(151)
                    found.append(torch.equal(torch.tanh(x), torchs))
                    return update(batch, optimise)

                return learns

            return wrap

    with rlk.make("dqn", env="CartPole-v1", plugins=[Learns()], seed=1, **LARGE) as agent:
        agent.learn(151)
    assert found == [False, False] and torch.equal(torch.tanh(x), torchs)


@pytest.mark.usefixtures("this_processor")
@needs_them
def test_an_update_that_fails_leaves_them_off() -> None:
    x, found = torch.randn(ROWS, SIZE), []
    torchs = torch.tanh(x)

    class Fails:
        @hookimpl
        def rlk_wrap_update(self) -> Any:
            def fails(batch: Any, optimise: Any) -> Any:
                found.append(torch.equal(torch.tanh(x), torchs))
                raise KeyboardInterrupt

            return lambda update: fails

    with (
        rlk.make("dqn", env="CartPole-v1", plugins=[Fails()], **LARGE) as agent,
        pytest.raises(KeyboardInterrupt),
    ):
        agent.learn(151)
    assert found == [False] and torch.equal(torch.tanh(x), torchs)


@pytest.mark.usefixtures("this_processor")
@needs_them
def test_each_batch_decides_for_its_update() -> None:
    x = torch.randn(ROWS, SIZE)
    torchs = torch.tanh(x)
    with rlk.make("dqn", env="CartPole-v1", **LARGE) as agent:
        agent.learn(151)
        wrap = extension.OwnKernels().rlk_wrap_update(agent.run)
        assert wrap is not None
        asks = wrap(lambda batch, optimise: not torch.equal(torch.tanh(x), torchs))
        sizes = ROWS - 1, ROWS, ROWS - 1
        found = [asks(agent.run.storage.sample(size), None) for size in sizes]
    assert found == [False, True, False]


@pytest.mark.usefixtures("this_processor")
@pytest.mark.parametrize("settings", [{"batch_size": ROWS - 1}, {"plugins": ["compile"]}])
def test_where_they_would_gain_nothing_they_are_not_built(
    settings: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(native, "eager", lambda: pytest.fail("they are built"))
    monkeypatch.setattr("rlk_cpp_libraries.compiler", lambda: "c++")
    with rlk.make("dqn", env="CartPole-v1", **{**LARGE, **settings}) as agent:
        agent.learn(1 if "plugins" in settings else 151)


def test_on_another_processor_nothing_is_wrapped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(native, "suits_this_processor", lambda: False)
    with rlk.make("dqn", env="CartPole-v1") as agent:
        assert extension.OwnKernels().rlk_wrap_update(agent.run) is None


@pytest.mark.usefixtures("this_processor")
def test_if_they_cannot_be_built_the_user_is_told_and_torch_computes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def fails() -> None:
        raise Unbuilt("c++ does not build eager.cpp: no space")

    monkeypatch.setattr(native, "eager", fails)
    monkeypatch.setattr("rlk_cpp_libraries.compiler", lambda: "c++")
    with (
        rlk.make("dqn", env="CartPole-v1", **LARGE) as agent,
        pytest.warns(UserWarning, match=r"own-kernels .*no space.*no:own-kernels") as told,
    ):
        agent.learn(152)
    assert sum("own-kernels" in str(each.message) for each in told) == 1


def test_they_are_compiled_for_the_strings_that_torch_has(monkeypatch: pytest.MonkeyPatch) -> None:
    given: list[str] = []

    def built(*options: Any, made_of: str, **_: Any) -> str:
        given.extend((*options, made_of))
        return "nothing.so"

    monkeypatch.setattr(torch.backends.cpu, "get_cpu_capability", lambda: "AVX512")
    monkeypatch.setattr(native, "built", built)
    with pytest.raises(Unbuilt, match=r"nothing\.so cannot be loaded"):
        native.eager.__wrapped__()
    kind = int(torch.compiled_with_cxx11_abi())
    assert f"-D_GLIBCXX_USE_CXX11_ABI={kind}" in given
    assert torch.__version__ in given[-1], "another version of torch needs another library"
