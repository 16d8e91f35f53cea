"""The table of components in the README."""

from pathlib import Path

from rlk_scaffold import docs

ROOT = Path(__file__).resolve().parents[2]


def test_the_table_in_the_readme_is_what_is_installed():
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert readme == docs.expected(ROOT), "run: python -m rlk_scaffold.docs"
