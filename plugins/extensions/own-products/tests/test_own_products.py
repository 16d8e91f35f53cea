"""Our own products of matrices beside torch's, what they replace, and what is said without."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor, fx

from rlk_cpp_libraries import Unbuilt, compiler
from rlk_own_products import native
from rlk_own_products.graph_pass import COLUMNS, NUMBERS, WORK, OwnProducts, suits

HAVE = torch.backends.cpu.get_cpu_capability() == "AVX512" and compiler() is not None
needs_them = pytest.mark.skipif(not HAVE, reason="wants AVX-512 and a C++ compiler")


@pytest.fixture(scope="module")
def own() -> Any:
    return native.operator()


def laid_out(*shape: int, how: str) -> Tensor:
    """Random numbers of this shape, in memory by rows, by columns, or with gaps."""
    *batch, rows, columns = shape
    if how == "rows":
        return torch.randn(shape)
    if how == "columns":
        return torch.randn(*batch, columns, rows).mT
    return torch.randn(*batch, 2 * rows, 3 * columns)[..., ::2, ::3]


def same(found: Tensor, x: Tensor, w: Tensor) -> bool:
    """Whether it is x by w to what float32 rounds of a sum of so many."""
    expected = x.double() @ w.double()
    scale = x.double().abs() @ w.double().abs()
    return found.shape == expected.shape and bool(
        ((found - expected).abs() <= 1e-6 * scale + 1e-12).all()
    )


@needs_them
@pytest.mark.parametrize("x_how", ["rows", "columns", "gaps"])
@pytest.mark.parametrize("w_how", ["rows", "columns", "gaps"])
def test_a_product_is_what_torch_makes_of_it_in_double(own: Any, x_how: str, w_how: str) -> None:
    torch.manual_seed(0)
    for rows, columns, depth in itertools.product(
        (1, 11, 12, 13, 40), (1, 31, 32, 33, 70), (1, 15, 16, 17, 256, 257, 600)
    ):
        x, w = laid_out(rows, depth, how=x_how), laid_out(depth, columns, how=w_how)
        assert same(own(x, w), x, w), (rows, columns, depth)


@needs_them
def test_a_product_by_hand(own: Any) -> None:
    x, w = torch.tensor([[1.0, 2.0], [3.0, 4.0]]), torch.tensor([[5.0, 6.0], [7.0, 8.0]])
    assert own(x, w).tolist() == [[19.0, 22.0], [43.0, 50.0]]
    assert own(x.mT, w).tolist() == [[26.0, 30.0], [38.0, 44.0]]


@needs_them
@pytest.mark.parametrize("how", ["rows", "columns", "gaps"])
def test_each_matrix_of_a_batch_is_multiplied_by_its_own(own: Any, how: str) -> None:
    torch.manual_seed(0)
    x, w = laid_out(3, 14, 20, how=how), laid_out(3, 20, 40, how=how)
    assert same(own(x, w), x, w)
    spread = laid_out(14, 20, how=how).expand(3, 14, 20)
    assert same(own(spread, w), spread, w)


@needs_them
def test_where_there_is_nothing_to_multiply(own: Any) -> None:
    assert own(torch.randn(2, 0), torch.randn(0, 3)).tolist() == [[0.0] * 3] * 2
    assert own(torch.randn(0, 4, 5), torch.randn(0, 5, 6)).shape == (0, 4, 6)
    assert own(torch.randn(0, 5), torch.randn(5, 6)).shape == (0, 6)
    assert own(torch.randn(4, 5), torch.randn(5, 0)).shape == (4, 0)


@needs_them
def test_what_does_not_go_together_is_refused(own: Any) -> None:
    x, w = torch.randn(4, 5), torch.randn(5, 6)
    for wrong in [(x, w.T), (x.double(), w), (x[0], w[0]), (x.expand(2, 4, 5), w),
                  (x.expand(2, 4, 5), w.expand(3, 5, 6))]:  # fmt: skip
        with pytest.raises(RuntimeError, match=r"wants|another"):
            own(*wrong)


@needs_them
def test_what_is_no_number_spreads_as_it_does_in_torch(own: Any) -> None:
    x, w = torch.zeros(13, 20), torch.ones(20, 40)
    x[2, 3], w[5, 6] = float("nan"), float("inf")
    assert torch.equal(own(x, w).isnan(), (x @ w).isnan())


@needs_them
def test_a_product_is_the_same_on_several_threads(own: Any, rlk_one_thread: None) -> None:
    x, w = torch.randn(300, 256), torch.randn(256, 300)
    one = own(x, w)
    torch.set_num_threads(3)
    assert torch.equal(own(x, w), one)


@needs_them
def test_a_compiler_is_told_what_they_give(own: Any) -> None:
    tests = ("test_schema", "test_faketensor")
    x, w = torch.randn(2, 4, 5), torch.randn(2, 5, 6)
    torch.library.opcheck(own.default, (x, w), test_utils=tests)


# ---- which products they take --------------------------------------------------------------------


def test_they_take_what_they_are_faster_with() -> None:
    x, w = torch.empty(256, 64), torch.empty(64, 64)
    assert suits(x, w) and suits(x.expand(2, 256, 64), w.expand(2, 64, 64))
    assert not suits(x[:100], w), "a call costs more than it gains"
    assert suits(x[: WORK // (64 * 64)], w)
    assert not suits(torch.empty(9_000, 64), w[:, : COLUMNS - 1])
    assert not suits(torch.empty(64, NUMBERS // 64 + 1), torch.empty(NUMBERS // 64 + 1, 64))
    assert not suits(x.double(), w.double()) and not suits(x.to("meta"), w.to("meta"))


def test_they_take_the_place_of_torchs_in_a_graph() -> None:
    def function(x: Tensor, w: Tensor) -> Tensor:
        small = torch.ops.aten.mm.default(x[:8], w)
        batch = torch.ops.aten.bmm.default(x.expand(2, 256, 64), w.expand(2, 64, 64))
        return torch.ops.aten.mm.default(x, w).sum() + small.sum() + batch.sum()

    class Stand:
        default = torch.ops.aten.matmul.default

    x, w = torch.randn(256, 64), torch.randn(64, 64)
    traced = fx.experimental.proxy_tensor.make_fx(function)(x, w)
    expected = traced(x, w)
    change = OwnProducts()
    change._product = Stand
    change(traced.graph)
    traced.recompile()
    targets = [node.target for node in traced.graph.nodes]
    assert targets.count(Stand.default) == 2 and targets.count(torch.ops.aten.mm.default) == 1
    assert torch.allclose(traced(x, w), expected)
    assert change.identity == OwnProducts().identity, "what is kept is known again"


# ---- what is said where there are none -----------------------------------------------------------


def test_they_are_for_processors_where_they_are_known_to_be_faster(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = "AVX512"
    monkeypatch.setattr(torch.backends.cpu, "get_cpu_capability", lambda: found)
    monkeypatch.setattr(native, "CPUINFO", tmp_path / "cpuinfo")
    assert not native.suits_this_processor()
    native.CPUINFO.write_text("vendor_id\t: GenuineIntel\n")
    assert not native.suits_this_processor()
    native.CPUINFO.write_text("vendor_id\t: AuthenticAMD\n")
    assert native.suits_this_processor()
    monkeypatch.setattr("rlk_own_products.graph_pass.compiler", lambda: "c++")
    assert OwnProducts().applies("cpu") and not OwnProducts().applies("cuda")
    found = "AVX2"
    assert not native.suits_this_processor()
    with pytest.raises(Unbuilt, match="needs AVX-512"):
        native.operator.__wrapped__()


def test_a_file_that_cannot_be_loaded_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(torch.backends.cpu, "get_cpu_capability", lambda: "AVX512")
    nothing = tmp_path / "nothing.so"
    nothing.write_text("nothing")
    monkeypatch.setattr(native, "built", lambda *_, **__: nothing)
    with pytest.raises(Unbuilt, match=r"nothing\.so cannot be loaded"):
        native.operator.__wrapped__()


def test_a_program_packed_without_the_sources_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(torch.backends.cpu, "get_cpu_capability", lambda: "AVX512")
    monkeypatch.setattr(native, "PRODUCT", tmp_path / "product.cpp")
    monkeypatch.setattr(native, "EAGER", tmp_path / "eager.cpp")
    with pytest.raises(Unbuilt, match=r"^product\.cpp cannot be read: "):
        native.operator.__wrapped__()
    with pytest.raises(Unbuilt, match=r"^eager\.cpp cannot be read: "):
        native.eager.__wrapped__()
