"""torch.distributed for rlk: `torchrun … -m rlk run … --plugin torch-distributed`."""
