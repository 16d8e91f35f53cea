"""What is compared: one module for each case, with the same settings for rlk and its peers.

Every case has `LIBRARIES`, who takes turns (`rlk`, `rlk+PLUGIN`, peers); `WARM_UP` and `TIMED`, the
timesteps of the two calls of `learn`; and `subject(library)`, what is to be trained. Nothing heavy
is imported before a subject is made.
"""
