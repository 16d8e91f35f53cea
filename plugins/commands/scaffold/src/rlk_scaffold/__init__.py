"""Writes plugin packages, and keeps those of this repository in shape.

`rlk plugins new NAME --kind KIND` makes a package; `python -m rlk_scaffold.sync` checks the
repository's own and writes what lists them; `python -m rlk_scaffold.docs` writes READMEs' tables.
"""
