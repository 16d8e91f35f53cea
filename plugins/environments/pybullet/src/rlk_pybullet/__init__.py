"""PyBullet's environments by their ids: `component.py` says which module registers them."""
