"""The examples of a page run, and the one that is meant is found; those in files run, too."""

from __future__ import annotations

import sys

import pytest
from example_code import defined_in, module_of

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


def test_a_file_is_run_anew_by_every_test_and_stays_out_of_the_imported_modules(tmp_path):
    path = tmp_path / "of_a_test.py"
    path.write_text("class Here: ...")
    first, second = module_of(path).Here, module_of(path).Here
    assert first is not second and first.__module__ == "of_a_test"
    assert "of_a_test" not in sys.modules


def test_a_file_that_is_no_module_is_refused(tmp_path):
    with pytest.raises(ValueError, match=r"README\.md is not a file of Python"):
        module_of(tmp_path / "README.md")
