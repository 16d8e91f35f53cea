"""The canonical form of a pyproject.toml."""

import tomllib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rlk_scaffold.manifest import (
    Manifest,
    import_name,
    read_manifest,
    render_pyproject,
    rewritten,
)

FULL = Manifest(
    name="rlk-full",
    module="rlk_full",
    version="1.2.3",
    description='A "quoted" description \\ with é.',
    dependencies=("torch>=2.6", "attrs>=24.3"),
    extras={"test": ("pytest>=8",)},
    scripts={"full": "rlk_full:main"},
    entry_points={
        "rlk.storages": {"full": "rlk_full.component:component", "Full": "rlk_full.component:full"},
        "rlk.commands": {"full.show": "rlk_full.component:show"},
    },
)


def test_what_was_read_is_written_as_it_was(tmp_path):
    path = tmp_path / "pyproject.toml"
    path.write_text(render_pyproject(FULL))
    assert render_pyproject(read_manifest(path)) == path.read_text()


def test_keys_that_would_be_lost_are_refused(tmp_path):
    path, text = tmp_path / "pyproject.toml", render_pyproject(FULL)
    path.write_text(text.replace('license = "MIT"', 'license = "BSD-3-Clause"'))
    assert rewritten(path, "1.2.3") == text, "the repository's own licence"
    more = 'urls = {Source = "https://example.org"}\nauthors = [{name = "Ada"}]\nversion ='
    path.write_text(text.replace("version =", more) + "\n[tool.ruff]\nline-length = 80\n")
    with pytest.raises(ValueError, match=r"has project.authors, project.urls, tool.ruff, which"):
        rewritten(path, "1.2.3")


def test_nothing_that_a_manifest_holds_is_lost(tmp_path):
    data = tomllib.loads(render_pyproject(FULL))
    assert data["project"] == {
        "name": "rlk-full",
        "version": "1.2.3",
        "description": FULL.description,
        "readme": "README.md",
        "requires-python": ">=3.11",
        "license": "MIT",
        "dependencies": ["attrs>=24.3", "torch>=2.6"],
        "optional-dependencies": {"test": ["pytest>=8"]},
        "scripts": {"full": "rlk_full:main"},
        "entry-points": FULL.entry_points,
    }
    assert data["tool"] == {"flit": {"module": {"name": "rlk_full"}}}
    assert data["build-system"]["build-backend"] == "flit_core.buildapi"


def test_entry_points_keep_their_order_so_that_a_name_stands_before_its_aliases():
    text = render_pyproject(FULL)
    assert text.index('full = "rlk_full.component:component"') < text.index("Full = ")


@given(st.text(st.characters(exclude_categories=["C", "Zl", "Zp"])))
def test_any_description_survives(description):
    text = render_pyproject(Manifest(name="x", module="x", description=description))
    assert tomllib.loads(text)["project"]["description"] == description


@pytest.mark.parametrize(
    ("text", "missing"),
    [
        ("[project]\ndescription = 'x'\n[tool.flit.module]\nname = 'x'", "project.name"),
        ("[project]\nname = 'x'\n[tool.flit.module]\nname = 'x'", "project.description"),
        ("[project]\nname = 'x'\ndescription = 'x'", "tool.flit.module.name"),
        (
            "[project]\nname = 1\ndescription = 'x'\n[tool.flit.module]\nname = 'x'",
            "project.name",
        ),
    ],
)
def test_a_manifest_without_what_it_must_have_is_refused(tmp_path, text, missing):
    (tmp_path / "pyproject.toml").write_text(text)
    with pytest.raises(ValueError, match=missing):
        read_manifest(tmp_path / "pyproject.toml")


@pytest.mark.parametrize(
    ("dist", "module"),
    [("rlk-dqn", "rlk_dqn"), ("acme.rlk", "acme_rlk"), ("A--b_c", "a_b_c")],
)
def test_the_import_name_is_the_distributions_with_underscores(dist, module):
    assert import_name(dist) == module
