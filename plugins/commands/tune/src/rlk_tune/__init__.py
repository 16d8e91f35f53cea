"""`rlk tune`: hyperparameter search, by trials that Optuna chooses.

`ranges` is the grammar of `--search`, `spaces` finds the ranges of an algorithm, `search` is what a
search consists of, `study` is its storage, `trial` trains one agent, `work` plays many trials in
one process or several, and `results` writes what they gave.
"""
