"""Our own convolutions and their gradients beside torch's in double, and what they replace."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor, fx
from torch.nn import functional as F

from rlk_cpp_libraries import compiler
from rlk_own_products import native
from rlk_own_products.convolution_pass import OwnConvolutions

HAVE = torch.backends.cpu.get_cpu_capability() == "AVX512" and compiler() is not None
needs_them = pytest.mark.skipif(not HAVE, reason="wants AVX-512 and a C++ compiler")
#: Images N, H, W, C; weights Y, X, O; stride. The first three are those of the Nature CNN.
SIZES = [
    (13, 84, 84, 4, 8, 8, 32, 4),
    (25, 20, 20, 32, 4, 4, 64, 2),
    (12, 9, 9, 64, 3, 3, 64, 1),
    (1, 7, 33, 8, 3, 4, 96, 1),
    (2, 11, 6, 32, 5, 1, 32, 3),
]
aten = torch.ops.aten


@pytest.fixture(scope="module")
def own() -> Any:
    return native.convolutions()


def layer(n: int, h: int, w: int, c: int, y: int, x: int, o: int) -> tuple[Tensor, Tensor, Tensor]:
    """Images [N, C, H, W], weights [O, C, Y, X] and a bias, at random."""
    torch.manual_seed(0)
    return torch.randn(n, c, h, w), torch.randn(o, c, y, x), torch.randn(o)


def ours(images: Tensor) -> Tensor:
    return images.permute(0, 2, 3, 1)


def same(found: Tensor, expected: Tensor) -> bool:
    """Whether they are the same to what float32 rounds of long sums."""
    return found.shape == expected.shape and torch.allclose(
        found.double(), expected, atol=2e-6 * float(expected.abs().max()), rtol=1e-5
    )


@needs_them
@pytest.mark.parametrize("size", SIZES)
def test_a_convolution_is_what_torch_makes_of_it_in_double(own: Any, size: Any) -> None:
    *shape, stride = size
    x, w, bias = layer(*shape)
    expected = F.conv2d(x.double(), w.double(), bias.double(), stride=stride)
    found = own.convolution(ours(x), w.permute(2, 3, 1, 0), bias, stride, 1.0)
    assert same(found.permute(0, 3, 1, 2), expected)
    last = x.contiguous(memory_format=torch.channels_last)
    assert torch.equal(own.convolution(ours(last), w.permute(2, 3, 1, 0), bias, stride, 1.0), found)


@needs_them
@pytest.mark.parametrize("size", SIZES)
def test_gradients_are_what_torch_makes_of_them_in_double(own: Any, size: Any) -> None:
    *shape, stride = size
    x, w, bias = (tensor.double().requires_grad_() for tensor in layer(*shape))
    result = F.conv2d(x, w, bias, stride=stride)
    gradient = torch.randn(result.shape)
    by_x, by_w = torch.autograd.grad(result, (x, w), gradient.double())
    x, w = x.detach().float(), w.detach().float()
    height, width = w.shape[2:]
    found = own.convolution_weights(ours(x), ours(gradient), height, width, stride, 1.0)
    assert same(found.permute(3, 2, 0, 1), by_w)
    height, width = x.shape[2:]
    found = own.convolution_images(ours(gradient), w.permute(2, 3, 1, 0), height, width, stride)
    assert same(found.permute(0, 3, 1, 2), by_x)


@needs_them
def test_a_convolution_by_hand(own: Any) -> None:
    x = torch.arange(64.0).reshape(1, 2, 1, 32)  # two pixels of 32 channels
    w = torch.zeros(2, 1, 32, 32)
    w[0, 0, 3, 5], w[1, 0, 4, 5] = 10.0, 100.0  # 3 of the first, 32 + 4 of the second
    bias = torch.ones(32)
    expected = torch.ones(32)
    expected[5] = 1.0 + 10.0 * 3 + 100.0 * 36
    assert torch.equal(own.convolution(x, w, bias, 1, 1.0).flatten(), expected)


@needs_them
def test_whole_numbers_are_divided_first(own: Any) -> None:
    x = torch.randint(0, 256, (3, 12, 12, 4), dtype=torch.uint8)
    w, bias, gradient = torch.randn(8, 8, 4, 32), torch.randn(32), torch.randn(3, 2, 2, 32)
    divided = x.float() / 255.0
    assert torch.equal(
        own.convolution(x, w, bias, 4, 255.0), own.convolution(divided, w, bias, 4, 1.0)
    )
    assert torch.equal(
        own.convolution_weights(x, gradient, 8, 8, 4, 255.0),
        own.convolution_weights(divided, gradient, 8, 8, 4, 1.0),
    )


@needs_them
def test_what_does_not_go_together_is_refused(own: Any) -> None:
    x, w, bias = torch.randn(2, 9, 9, 32), torch.randn(3, 3, 32, 32), torch.randn(32)
    for wrong in [(x.double(), w, bias), (x[0], w, bias), (x[..., :16], w, bias), (x, w, bias[:9]),
                  (x, w[..., :9], bias[:9]), (x[:, :2], w, bias)]:  # fmt: skip
        with pytest.raises(RuntimeError, match=r"wants|another|multiples|small"):
            own.convolution(*wrong, 1, 1.0)
    gradient = torch.randn(2, 7, 7, 32)
    with pytest.raises(RuntimeError, match="another gradient"):
        own.convolution_weights(x, gradient, 3, 3, 2, 1.0)
    with pytest.raises(RuntimeError, match="another gradient"):
        own.convolution_images(gradient, w, 8, 9, 1)


@needs_them
def test_they_are_the_same_on_several_threads(own: Any, rlk_one_thread: None) -> None:
    x, w, bias = torch.randn(30, 9, 9, 64), torch.randn(3, 3, 64, 64), torch.randn(64)
    gradient = torch.randn(30, 7, 7, 64)

    def all_three() -> list[Tensor]:
        return [
            own.convolution(x, w, bias, 1, 1.0),
            own.convolution_weights(x, gradient, 3, 3, 1, 1.0),
            own.convolution_images(gradient, w, 9, 9, 1),
        ]

    one = all_three()
    torch.set_num_threads(3)
    assert all(map(torch.equal, all_three(), one))


@needs_them
def test_a_compiler_is_told_what_they_give(own: Any) -> None:
    tests = ("test_schema", "test_faketensor")
    x, w, bias = torch.randn(2, 9, 6, 32), torch.randn(3, 2, 32, 64), torch.randn(64)
    gradient = torch.randn(2, 4, 3, 64)
    for operator, arguments in [
        (own.convolution, (x, w, bias, 2, 1.0)),
        (own.convolution_weights, (x, gradient, 3, 2, 2, 1.0)),
        (own.convolution_images, (gradient, w, 9, 6, 2)),
    ]:
        torch.library.opcheck(operator.default, arguments, test_utils=tests)


# ---- which convolutions they take ----------------------------------------------------------------


def changed(function: Any, *arguments: Tensor) -> tuple[list[str], Any, Any]:
    """The operators of a graph after the pass, what it computes, and what it did before."""
    traced = fx.experimental.proxy_tensor.make_fx(function, tracing_mode="fake")(*arguments)
    traced.graph.eliminate_dead_code()  # as inductor does before
    expected = traced(*arguments)
    change = OwnConvolutions()
    change.prepare()
    change(traced.graph)
    traced.graph.lint()
    traced.recompile()
    names = [str(node.target) for node in traced.graph.nodes]
    return [name for name in names if "convolution" in name], traced(*arguments), expected


@needs_them
def test_they_take_the_place_of_torchs_in_a_graph() -> None:
    w1, b1 = torch.randn(32, 4, 8, 8), torch.randn(32)
    w2, b2 = torch.randn(64, 32, 4, 4), torch.randn(64)

    def gradients(images: Tensor, *parameters: Tensor) -> Any:
        w1, b1, w2, b2 = (one.detach().requires_grad_() for one in parameters)
        x = torch.ops.prims.convert_element_type.default(images, torch.float32) / 255.0
        x = F.relu(F.conv2d(x.permute(0, 3, 1, 2), w1, b1, stride=4))
        x = F.conv2d(x, w2, b2, stride=2)
        return x.detach(), torch.autograd.grad((x * x).mean(), (w1, b1, w2, b2))

    images = torch.randint(0, 256, (6, 44, 44, 4), dtype=torch.uint8)
    names, found, expected = changed(gradients, images, w1, b1, w2, b2)
    assert sorted(names) == [
        "rlk_own_products.convolution.default",
        "rlk_own_products.convolution.default",
        "rlk_own_products.convolution_images.default",
        "rlk_own_products.convolution_weights.default",
        "rlk_own_products.convolution_weights.default",
    ]
    assert torch.allclose(found[0], expected[0], rtol=1e-4, atol=1e-4)
    for one, other in zip(found[1], expected[1], strict=True):
        assert torch.allclose(one, other, rtol=1e-4, atol=1e-5 * float(other.abs().max()))


@needs_them
@pytest.mark.parametrize(
    "other",
    [
        {"padding": 1},
        {"dilation": 2},
        {"groups": 2},
        {"stride": (1, 2)},
        {"bias": False},
        {"out": 33},
    ],
)
def test_they_leave_what_they_do_not_compute(other: dict[str, Any]) -> None:
    weight = torch.randn(other.get("out", 64), 32 // other.get("groups", 1), 3, 3)
    bias = torch.randn(len(weight)) if other.get("bias", True) else None
    settings: Any = {name: other[name] for name in other if name not in ("out", "bias")}

    def convolve(x: Any, weight: Any, *bias: Any) -> Any:
        return F.conv2d(x, weight, *bias, **settings)

    given = (torch.randn(20, 32, 12, 12), weight, *([] if bias is None else [bias]))
    names, found, expected = changed(convolve, *given)
    assert names == ["aten.convolution.default"]
    assert torch.equal(found, expected)


@needs_them
def test_they_leave_what_is_small_and_what_is_no_float32() -> None:
    x, *layer = torch.randn(20, 32, 12, 12), torch.randn(64, 32, 3, 3), torch.randn(64)
    theirs = ["aten.convolution.default"]
    assert changed(F.conv2d, x, *layer)[0] == ["rlk_own_products.convolution.default"]
    assert changed(F.conv2d, x[:1, :, :5, :5], *layer)[0] == theirs
    assert changed(F.conv2d, *(one.double() for one in (x, *layer)))[0] == theirs
    for channels in (16, 128):  # 3 * 16 is no multiple of 32; 3 * 3 * 128 is above 1024
        given = torch.randn(20, channels, 12, 12), torch.randn(64, channels, 3, 3), torch.randn(64)
        assert changed(F.conv2d, *given)[0] == theirs


def test_what_is_kept_is_known_again() -> None:
    assert OwnConvolutions().identity == OwnConvolutions().identity
