"""`tallow.functional` under the name that PyTorch gives it, `import tallow.nn.functional as F`, and
less common ones."""

from functools import partial

from ..functional import *  # noqa: F403
from ..functional import activations as _activations
from ..functional.multi_head import multi_head_attention_forward as multi_head_attention_forward

celu_ = partial(_activations.celu, inplace=True)
elu_ = partial(_activations.elu, inplace=True)
hardtanh_ = partial(_activations.hardtanh, inplace=True)
leaky_relu_ = partial(_activations.leaky_relu, inplace=True)
relu_ = partial(_activations.relu, inplace=True)
rrelu_ = partial(_activations.rrelu, inplace=True)
selu_ = partial(_activations.selu, inplace=True)
threshold_ = partial(_activations.threshold, inplace=True)
