"""`tallow.functional` under the name that PyTorch gives it: `import tallow.nn.functional as F`."""

from ..functional import *  # noqa: F403
