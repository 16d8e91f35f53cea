"""The examples of a page run, and the one that is meant is found."""

from __future__ import annotations

import pytest

from rlk_testing.examples import defined_in

PAGE = """
```python
first = 1
```
```console
$ ls
```
```python
second = 2
```
"""


def test_an_example_runs_and_must_be_the_only_one_with_the_text(tmp_path):
    page = tmp_path / "README.md"
    page.write_text(PAGE)
    assert defined_in(page, "second")["second"] == 2
    assert "first" not in defined_in(page, "second")
    for text, count in (("third", 0), (" = ", 2)):
        with pytest.raises(ValueError, match=f"{count} examples"):
            defined_in(page, text)
