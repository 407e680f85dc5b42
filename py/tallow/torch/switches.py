"""The settings of torch.backends.cudnn and the like: see tallow/accelerators/switches.py."""

from ..accelerators.switches import *  # noqa: F403
