"""Writes plugin packages, and keeps those of this repository in shape.

`rlk plugins new NAME --kind KIND` makes a package; `python -m rlk_scaffold.sync` checks the
repository's own packages and writes the files that list them; `python -m rlk_scaffold.docs` writes
the tables in READMEs.
"""
