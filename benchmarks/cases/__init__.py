"""What is compared: one module for each case, with the same settings for rlk and its peers.

Every case has `LIBRARIES`, who takes turns (`rlk`, `rlk+PLUGIN`, peers); `WARM_UP` and `TIMED`, the
timesteps of the two calls of `learn`; and `subject(library)`, which returns the `Subject` of
`_training.py` that is measured. A case that steps environments in several processes has `CORES`,
how many cores they share (otherwise it is one); one that trains nothing, `TAKES_PLUGINS = False`.

What cases share is in modules whose names begin with `_`. Nothing heavy is imported before a
subject is made.
"""
