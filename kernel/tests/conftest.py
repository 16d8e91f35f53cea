from __future__ import annotations

import inspect
import itertools
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import torch


@pytest.fixture(autouse=True)
def one_thread() -> Iterator[None]:
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture
def verdict(tmp_path_factory: Any) -> Callable[..., str]:
    """verdict(suite, check): "passed", "skipped", or what a contract's check fails with."""

    def judge(suite: type, check: str) -> str:
        method = getattr(suite(), check)
        marks = [mark for mark in getattr(method, "pytestmark", []) if mark.name == "parametrize"]
        columns = [[{mark.args[0]: value} for value in mark.args[1]] for mark in marks]
        for chosen in itertools.product(*columns):
            arguments = {key: value for part in chosen for key, value in part.items()}
            if "tmp_path" in inspect.signature(method).parameters:
                arguments["tmp_path"] = tmp_path_factory.mktemp("check")
            try:
                method(**arguments)
            except pytest.skip.Exception:
                return "skipped"
            except (Exception, pytest.fail.Exception) as error:
                return f"failed: {error}"
        return "passed"

    return judge


@pytest.fixture
def fails(verdict: Callable[..., str]) -> Callable[..., None]:
    """fails(contract, good, broken, check): the good one passes that check, the broken one not."""

    def judge(contract: type, good: Any, broken: Any, check: str, **fields: Any) -> None:
        suites = [type("Suite", (contract,), {"component": c, **fields}) for c in (good, broken)]
        assert verdict(suites[0], check) == "passed"
        found = verdict(suites[1], check)
        assert found.startswith("failed"), f"the broken one: {found}"

    return judge
