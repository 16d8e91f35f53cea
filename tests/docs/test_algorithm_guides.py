"""The examples of docs/writing-an-…-algorithm.md are sound, and are what the pages show."""

from __future__ import annotations

import os
import re
import sys
import textwrap
from pathlib import Path

import pytest
import torch
from example_code import defined_in, module_of

from rlk.errors import PlanError
from rlk_mlp.config import MlpConfig
from rlk_mlp.network import Mlp

ROOT = Path(__file__).resolve().parents[2]
OFF_POLICY = ROOT / "examples" / "off_policy_algorithm"
ON_POLICY = ROOT / "examples" / "on_policy_algorithm"
#: The page -> the example that it explains.
GUIDES = {
    ROOT / "docs" / "writing-an-off-policy-algorithm.md": OFF_POLICY,
    ROOT / "docs" / "writing-an-on-policy-algorithm.md": ON_POLICY,
}
SOURCES = [str(example / "src") for example in GUIDES.values()]
sys.path[:0] = SOURCES


@pytest.fixture(autouse=True)
def importable(monkeypatch):
    """Make the examples importable, also in processes that a check starts."""
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(SOURCES), prepend=os.pathsep)


class TestEnsembleDDPG(module_of(OFF_POLICY / "tests" / "test_contract.py").TestEnsembleDDPG):
    from acme_ensemble.component import component


class TestKLPenaltyPPO(module_of(ON_POLICY / "tests" / "test_contract.py").TestKLPenaltyPPO):
    from acme_kl_penalty.component import component


def test_the_on_policy_example_refuses_empty_minibatches(rlk_make):
    from acme_kl_penalty.component import component

    settings = {"env": "CartPole-v1", "n_envs": 2, "n_steps": 8}
    rlk_make(component, n_minibatches=16, **settings).learn(16)
    with pytest.raises(PlanError, match=r"16 transitions.* 17 .*--set n_minibatches=16"):
        rlk_make(component, n_minibatches=17, **settings)


def test_the_weight_of_the_on_policy_examples_penalty_can_always_return(rlk_make):
    from acme_kl_penalty.component import component

    with rlk_make(component, env="CartPole-v1") as agent:
        algorithm = agent.run.algorithm
        for kl, bound in ((0.0, 1e-6), (1.0, 1e6)):
            for _ in range(60):
                algorithm.adapt(torch.tensor([kl]))
            assert float(algorithm.kl_coef) == pytest.approx(bound)


def by_hand(example: Path):
    """The tests of an example's formulas, by name."""
    found = vars(module_of(example / "tests" / "test_loss.py"))
    return {name: test for name, test in found.items() if name.startswith("test_")}


for path in GUIDES.values():
    tests = by_hand(path)
    assert not tests.keys() & globals().keys(), "two examples have a test of the same name"
    globals().update(tests)  # they run as tests of this file


def shown(page: Path) -> list[tuple[str, str]]:
    """(file, code) of every block of a page that begins with the name of a file."""
    blocks = re.findall(r"```python\n# (\S+\.py)\n(.*?)```", page.read_text(), re.DOTALL)
    return [(name, code.strip("\n")) for name, code in blocks]


@pytest.mark.parametrize(("page", "example"), GUIDES.items(), ids=lambda path: path.stem)
def test_a_guide_shows_code_of_every_file(page, example):
    written = {path.name for path in example.glob("src/*/*.py") if path.stem != "__init__"}
    assert {"component.py", "config.py", "loss.py", "algorithm.py"} <= written
    assert {Path(name).name for name, _ in shown(page)} == {*written, "test_contract.py"}


@pytest.mark.parametrize(
    ("page", "name", "code"),
    [(page, *block) for page in GUIDES for block in shown(page)],
    ids=lambda value: value.stem if isinstance(value, Path) else value.splitlines()[0],
)
def test_what_a_guide_shows_stands_in_its_example(page, name, code):
    text = (GUIDES[page] / name).read_text()
    assert code in text or textwrap.indent(code, "    ") in text


def test_the_head_of_a_distribution_of_returns_gives_quantiles_and_their_mean():
    def trunk(role, **keywords):
        return Mlp(MlpConfig(layers=[8])).trunk(role, 3, **keywords)

    guide = ROOT / "docs" / "writing-an-off-policy-algorithm.md"
    head = defined_in(guide, "class QuantileHead")["QuantileHead"](trunk, 2, 5)
    features = torch.randn(4, 3)
    quantiles = head.quantiles(features)
    assert quantiles.shape == (4, 2, 5)
    assert torch.equal(quantiles.flatten(1), head.out(head.trunk(features)))
    assert torch.equal(head(features), quantiles.mean(2))
