from __future__ import annotations

import copy

import pytest
import torch
from torch import nn

from rlk.errors import RlkError
from rlk_flat_parameters import FlatParameters


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.shared = nn.Linear(2, 3)
        self.pi = nn.Linear(3, 2)
        self.vf = nn.Linear(3, 1)


@pytest.fixture
def flat():
    torch.manual_seed(0)
    return FlatParameters(Net())


def test_parameters_keep_their_values_and_become_views_of_one_tensor():
    torch.manual_seed(0)
    net = Net()
    before = {name: value.clone() for name, value in net.state_dict().items()}
    flat = FlatParameters(net)
    assert flat.flat.shape == (9 + 8 + 4,)
    for name, value in net.state_dict().items():
        assert torch.equal(value, before[name])
    with torch.no_grad():
        flat.flat.zero_()
    assert all(not bool(p.any()) for p in net.parameters())


def test_the_flat_tensor_has_the_order_of_the_named_parameters(flat):
    assert flat.names == [name for name, _ in flat.module.named_parameters()]
    joined = torch.cat([p.reshape(-1) for p in flat.module.parameters()])
    assert torch.equal(flat.flat, joined.detach())


def test_a_gradient_reaches_parameters_as_ever(flat):
    flat.module.pi(flat.module.shared(torch.ones(1, 2))).sum().backward()
    assert flat.module.shared.weight.grad is not None and not flat.flat.requires_grad


def test_a_selection_is_a_range_that_shares_memory(flat):
    views, memory = flat.select(("pi",))
    assert [tuple(v.shape) for v in views] == [(2, 3), (2,)]
    with torch.no_grad():
        memory.fill_(7.0)
    assert bool((flat.module.pi.weight == 7).all()) and not bool((flat.module.vf.weight == 7).any())


def test_a_selection_is_not_a_view_to_autograd_so_compiled_code_may_write_to_it(flat):
    assert not flat.select(("pi",))[1]._is_view()


def test_ranges_may_overlap_and_be_named_in_any_order(flat):
    _, one = flat.select(("pi", "shared"))
    _, two = flat.select(("vf", "pi"))
    assert one.numel() == 9 + 8 and two.numel() == 8 + 4
    assert one.data_ptr() == flat.flat.data_ptr()


def test_one_parameter_may_be_selected_by_its_whole_name(flat):
    views, memory = flat.select(("vf.bias",))
    assert len(views) == 1 and memory.numel() == 1


def test_a_module_is_selected_with_all_modules_in_it():
    net = Net()
    net.pi = nn.Sequential(nn.Sequential(nn.Linear(2, 3), nn.Tanh()), nn.Linear(3, 1))
    views, memory = FlatParameters(net).select(["pi"])
    assert len(views) == 4 and memory.numel() == 9 + 4


def test_a_module_inside_another_is_selected_by_its_path():
    net = Net()
    net.pi = nn.Sequential(*(nn.Linear(2, 2) for _ in range(11)), nn.Linear(2, 1))
    flat = FlatParameters(net)
    views, memory = flat.select(["pi.1"])
    assert [view.shape for view in views] == [(2, 2), (2,)] and memory.numel() == 6, "not pi.10"
    assert views[0] is net.pi[1].weight
    assert flat.select(["pi.0", "pi.1.weight"])[1].numel() == 6 + 4
    with pytest.raises(RlkError, match=r"no trainable parameters under \['p', 'pi.1.w'\]"):
        flat.select(["p", "pi.1.w", "pi"])


def test_everything_is_selected_if_nothing_is_named(flat):
    views, memory = flat.select(None)
    assert memory is flat.flat and len(views) == 6


def test_a_selection_with_a_gap_is_refused(flat):
    with pytest.raises(RlkError, match="not a contiguous range"):
        flat.select(("shared", "vf"))


def test_a_name_that_no_parameter_has_is_refused(flat):
    with pytest.raises(RlkError, match=r"\['qf'\]"):
        flat.select(("pi", "qf"))
    with pytest.raises(RlkError, match=r"under \[\]; there are \['shared.weight'"):
        flat.select(())


def test_parameters_that_take_no_gradient_stay_outside():
    net = Net()
    net.shared.weight.requires_grad_(False)
    flat = FlatParameters(net)
    assert "shared.weight" not in flat.names
    flat.check()


def test_a_module_without_parameters_is_refused():
    with pytest.raises(RlkError, match="no trainable parameters"):
        FlatParameters(nn.Identity())


def test_parameters_of_two_types_are_refused():
    net = Net()
    net.vf.double()
    with pytest.raises(RlkError, match="one dtype"):
        FlatParameters(net)


# ---- what breaks views ---------------------------------------------------------------------------


def test_nothing_is_wrong_at_first_nor_after_steps_in_place(flat):
    flat.check()
    with torch.no_grad():
        flat.flat.add_(1.0)
        flat.module.pi.weight.mul_(2.0)
    flat.module.load_state_dict(flat.module.state_dict())
    flat.check()


def replaced_by_data(flat):
    flat.module.pi.weight.data = flat.module.pi.weight.data.clone()


def replaced_by_a_transposed_view(flat):
    flat.module.shared.weight.data = flat.flat[:6].view(2, 3).T


def replaced_by_vector(flat):
    nn.utils.vector_to_parameters(torch.arange(21.0), flat.module.parameters())


def replaced_by_the_place_of_another(flat):
    bias, weight = flat.module.vf.bias, flat.module.vf.weight
    weight.data, bias.data = flat.module.pi.weight.data[0].view(1, 3), weight.data[0, :1]


@pytest.mark.parametrize(
    "moves",
    [
        replaced_by_data,
        replaced_by_a_transposed_view,
        replaced_by_vector,
        replaced_by_the_place_of_another,
    ],
    ids=lambda function: function.__name__,
)
def test_memory_that_was_replaced_is_found_and_taken_back_with_its_values(flat, moves):
    moves(flat)
    expected = {name: value.clone() for name, value in flat.module.state_dict().items()}
    with pytest.raises(RlkError, match="no longer part of the policy's flat tensor"):
        flat.check()
    flat.adopt()
    flat.check()
    found = flat.module.state_dict()
    assert all(torch.equal(found[name], value) for name, value in expected.items())
    assert torch.equal(flat.flat, torch.cat([expected[name].reshape(-1) for name in flat.names]))
    with torch.no_grad():
        flat.flat.fill_(7.0)
    assert all(bool((one == 7.0).all()) for one in flat.module.parameters())


def changed_to_double(flat):
    flat.module.pi.double()


def changed_in_shape(flat):
    flat.module.pi.weight.data = torch.zeros(3, 2)


@pytest.mark.parametrize("changes", [changed_to_double, changed_in_shape])
def test_memory_of_another_kind_is_refused_and_nothing_is_taken_back(flat, changes):
    before = flat.flat.clone()
    flat.module.shared.weight.data = torch.ones(3, 2)
    changes(flat)
    with pytest.raises(RlkError, match=r"'pi.weight' .* now, and was float32 \[2, 3\] on cpu"):
        flat.adopt()
    assert torch.equal(flat.flat, before)


def replaced_by_assignment(flat):
    flat.module.load_state_dict(Net().state_dict(), assign=True)


def replaced_by_another_parameter(flat):
    flat.module.pi.weight = nn.Parameter(torch.zeros(2, 3))


def replaced_by_another_layer(flat):
    flat.module.pi = nn.Linear(3, 2)


def replaced_by_weight_norm(flat):
    nn.utils.parametrizations.weight_norm(flat.module.pi)


@pytest.mark.parametrize(
    "breaks",
    [
        replaced_by_assignment,
        replaced_by_another_parameter,
        replaced_by_another_layer,
        replaced_by_weight_norm,
    ],
    ids=lambda function: function.__name__,
)
def test_a_parameter_that_was_replaced_is_refused(flat, breaks):
    breaks(flat)
    flat.adopt()
    with pytest.raises(RlkError, match=r"another one is in its place.*parameter\.data\.copy_"):
        flat.check()


def test_a_frozen_parameter_that_is_unfrozen_later_is_refused():
    net = Net()
    net.shared.requires_grad_(False)
    flat = FlatParameters(net)
    net.requires_grad_(True)
    with pytest.raises(
        RlkError, match=r"\['shared.bias', 'shared.weight'\] take gradients .* not be trained"
    ):
        flat.check()


def test_a_deepcopy_of_the_module_is_not_a_view_of_this_tensor(flat):
    flat.module = copy.deepcopy(flat.module)
    with pytest.raises(RlkError, match="no longer part"):
        flat.check()


# ---- copies --------------------------------------------------------------------------------------


def test_a_clone_is_equal_and_apart_and_takes_no_gradient(flat):
    copied = flat.clone()
    assert torch.equal(copied.flat, flat.flat)
    with torch.no_grad():
        flat.flat.zero_()
    assert bool(copied.flat.any())
    assert not any(p.requires_grad for p in copied.module.parameters())
    assert all(p.requires_grad for p in flat.module.parameters())
    copied.check()
    flat.check()


def test_a_clone_shares_buffers_and_frozen_parameters():
    net = Net()
    net.norm = nn.BatchNorm1d(3)
    net.shared.weight.requires_grad_(False)
    copied = FlatParameters(net).clone().module
    assert copied.shared.weight is net.shared.weight
    assert copied.norm.running_mean is net.norm.running_mean
    assert copied.shared.bias is not net.shared.bias


def test_saved_values_are_copies_and_come_back_in_place(flat):
    saved = flat.state_dict()
    memory = flat.flat.data_ptr()
    with torch.no_grad():
        flat.flat.zero_()
    assert bool(saved["pi.weight"].any())
    flat.load_state_dict(saved)
    assert torch.equal(flat.module.pi.weight, saved["pi.weight"])
    assert flat.flat.data_ptr() == memory
    flat.check()


def test_a_part_of_the_values_is_taken_only_with_what_is_there_for_the_rest(flat):
    part = {"pi.bias": torch.ones(2)}
    with pytest.raises(RlkError, match="missing"):
        flat.load_state_dict(part)
    flat.load_state_dict(flat.state_dict() | part)
    assert flat.module.pi.bias.tolist() == [1.0, 1.0]


@pytest.mark.parametrize("wrong", [{"qf.bias": torch.ones(2)}, {"pi.bias": torch.ones(3)}])
def test_values_that_do_not_fit_change_nothing(flat, wrong):
    before = flat.flat.clone()
    others = {name: value + 1.0 for name, value in flat.state_dict().items()}
    with pytest.raises(RlkError):
        flat.load_state_dict({**others, **wrong})
    assert torch.equal(flat.flat, before)
