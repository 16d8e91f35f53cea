"""GAIL and AIRL as names for `--algo`: `--algo gail --set expert_path=FILE`."""
