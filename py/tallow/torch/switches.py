"""The settings of torch.backends.cudnn and its kin: see tallow/accelerators/switches.py."""

from ..accelerators.switches import *  # noqa: F403
