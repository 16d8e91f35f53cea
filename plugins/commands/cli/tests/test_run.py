"""What `rlk run` says of a run before it trains."""

from __future__ import annotations

import pytest

from rlk.planning.resolve import resolve
from rlk.planning.spec import make_spec
from rlk.registry.kernel import default_kernel
from rlk_cli.run import warn_of_no_callback


@pytest.mark.parametrize(
    ("plugins", "warns"), [((), True), (("checkpoint",), False), (("no:checkpoint",), False)]
)
def test_a_run_that_nothing_will_be_kept_of_says_so_unless_that_was_asked_for(
    plugins: tuple[str, ...], warns: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    spec = make_spec("a2c", {"env": "CartPole-v1", "plugins": plugins})
    # Without a folder, a plan is what an installation without rlk-callbacks makes.
    warn_of_no_callback(resolve(default_kernel(), spec))
    assert ("pip install rlk-callbacks" in capsys.readouterr().err) is warns
