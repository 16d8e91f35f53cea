"""PyBullet's environments by id: `component.py` names the module that registers them."""
