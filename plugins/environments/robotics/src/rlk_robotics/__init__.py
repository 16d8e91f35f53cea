"""gymnasium-robotics' environments by id: `component.py` names the module that registers them."""
