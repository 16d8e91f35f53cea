"""The trajectory replay (`--storage trajectory-replay`): what ACER learns from."""
