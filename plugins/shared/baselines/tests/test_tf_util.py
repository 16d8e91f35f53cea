"""Functions of tensors, with results computed by hand."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import tensor

from rlk_baselines.common import tf_util


def test_norms_and_errors() -> None:
    assert tf_util.avg_norm(tensor([[3.0, 4.0], [0.0, 1.0]])).item() == 3.0
    assert tf_util.mse(tensor([1.0, 2.0]), tensor([1.0, 4.0])).item() == 2.0
    errors = tensor([[-3.0, -1.0], [0.5, 2.0]])
    assert tf_util.huber_loss(errors).tolist() == [[2.5, 0.5], [0.125, 1.5]]
    assert tf_util.huber_loss(errors, delta=2.0).tolist() == [[4.0, 0.5], [0.125, 2.0]]


def test_the_explained_variance_is_of_all_numbers() -> None:
    true = tensor([[0.0, 2.0], [4.0, 6.0]])  # variance 5; that of the error below is 1.25
    assert tf_util.q_explained_variance(true / 2, true).item() == 0.75
    assert tf_util.q_explained_variance(true + 7, true).item() == 1.0


def test_categorical_distributions_of_logits() -> None:
    logits = torch.log(tensor([[0.25, 0.75], [1.0, 1e-30]]))
    expected = [0.25 * np.log(4) - 0.75 * np.log(0.75), 0.0]
    assert tf_util.calc_entropy(logits).tolist() == pytest.approx(expected)
    drawn = tf_util.sample(logits[1:].expand(50, 2))
    assert drawn.tolist() == [0] * 50 and drawn.dtype == torch.int64


def test_shapes() -> None:
    assert tf_util.numel(torch.zeros(2, 3)) == 6 and tf_util.intprod([2, 1.5, 0.5]) == 1
    assert tf_util.var_shape(torch.zeros(2, 3)) == [2, 3]
    shapes = {(8, 8, 3): True, (8, 8, 4): True, (8, 8, 2): False, (2, 8, 8, 3): False}
    assert {shape: tf_util.is_image(torch.zeros(shape)) for shape in shapes} == shapes
    tf_util.check_shape([torch.zeros(2), torch.zeros(())], [[2], []])
    with pytest.raises(AssertionError, match=r"tensor 1 has the shape \[2\], not \[3\]"):
        tf_util.check_shape([torch.zeros(2), torch.zeros(2)], [[2], [3]])


def test_batches_become_sequences_and_come_back() -> None:
    batch = torch.arange(12).reshape(6, 2)  # two environments of three steps of two numbers
    found = tf_util.batch_to_seq(batch, 2, 3)
    assert [one.tolist() for one in found] == [
        [[0, 1], [6, 7]],
        [[2, 3], [8, 9]],
        [[4, 5], [10, 11]],
    ]
    assert torch.equal(tf_util.seq_to_batch(found), batch)
    flat = tf_util.batch_to_seq(torch.arange(6), 2, 3, flat=True)
    assert [one.tolist() for one in flat] == [[0, 3], [1, 4], [2, 5]]
    assert tf_util.seq_to_batch(flat, flat=True).tolist() == [0, 1, 2, 3, 4, 5]


def test_gradients_in_one_row(capsys: pytest.CaptureFixture[str]) -> None:
    a, b, unused = (tensor(value, requires_grad=True) for value in ([3.0, 4.0], [2.0], [1.0]))
    loss = (a * a).sum() / 2 + 5 * b.sum()
    assert tf_util.flatgrad(loss, [a, b, unused]).tolist() == [3.0, 4.0, 5.0, 0.0]
    clipped = tf_util.flatgrad(loss, [a, b, unused], clip_norm=2.5)  # each by itself, as there
    assert clipped.tolist() == pytest.approx([1.5, 2.0, 2.5, 0.0])
    assert tf_util.gradient_add(a.detach(), a.detach(), a, verbose=1).tolist() == [6.0, 8.0]
    assert capsys.readouterr().out == ""
    tf_util.gradient_add(None, tensor(7), "name", verbose=2)
    assert capsys.readouterr().out == "None tensor(7) name\n"
    assert tf_util.gradient_add(None, b, b) is b is tf_util.gradient_add(b, None, b)
    assert tf_util.gradient_add(None, None, b) is None


def test_what_belongs_to_the_graph_says_what_to_write() -> None:
    with pytest.raises(ImportError, match=r"Write model\.get_parameters\(\)\."):
        from rlk_baselines.common.tf_util import get_trainable_vars  # noqa: F401
    with pytest.raises(ImportError, match=r"Write torch\.nn\.utils\.parameters_to_vector"):
        from rlk_baselines.common.tf_util import GetFlat  # noqa: F401
    with pytest.raises(ImportError, match="n_cpu_tf_sess"):
        tf_util.make_session()
    assert not hasattr(tf_util, "nothing_of_theirs")
