"""torch.utils.model_zoo: see hub.py."""

from .hub import load_state_dict_from_url as load_url

__all__ = ["load_url"]
