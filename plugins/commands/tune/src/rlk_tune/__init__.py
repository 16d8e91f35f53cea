"""`rlk tune`: hyperparameter search, by trials that Optuna chooses.

`ranges` is the grammar of `--search`, `spaces` finds the ranges of an algorithm, `search` describes
a search, `study` is its storage, `trial` trains one agent, `work` runs many trials in one process
or several, `process_ends` says how these have ended, and `results` writes their results.
"""
