"""torch.utils.tensorboard, where the package tensorboardX is installed, which writes the files."""

try:
    from tensorboardX import SummaryWriter
except ImportError as error:
    raise ModuleNotFoundError(
        "torch.utils.tensorboard: the files are written by tensorboardX, which is not installed; "
        "pip install tensorboardX",
        name="tensorboardX",
    ) from error

__all__ = ["SummaryWriter"]
