"""GAIL and AIRL by their names: `--algo gail --set expert_path=FILE`."""
