"""A distribution that inherits what is asked of it is looked at when it is loaded."""

import pytest

from rlk.errors import BrokenPlugin
from rlk.registry.kernel import Kernel
from rlk_networks import Distribution

ASKED = sorted(Distribution.__abstractmethods__)


def loaded(*names, bases=(Distribution,)):
    kernel = Kernel(discover=False)
    made = type("Made", bases, dict.fromkeys(names, print))
    kernel.registries.distributions.register("made", made)
    return kernel.registries.distributions.get("made").load()


def test_one_that_has_all_is_loaded():
    assert loaded(*ASKED)()


@pytest.mark.parametrize("missing", ASKED)
def test_one_that_lacks_a_method_is_refused_by_name(missing):
    whose = r"distribution 'made' \(this program\) is broken"
    with pytest.raises(BrokenPlugin, match=f"{whose}: .* lacks {missing}, which"):
        loaded(*[name for name in ASKED if name != missing])


def test_one_that_inherits_nothing_is_let_through():
    assert loaded("sample", bases=())
