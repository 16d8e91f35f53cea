"""The replay storage (`--storage replay`) and the window that decorating storages work on.

`rlk_replay.window.Window` imports no torch; `rlk_replay.storage.Replay` does.
"""
