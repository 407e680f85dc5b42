"""torch.utils.data's names: datasets, samplers, and the loader that makes batches of them.

for inputs, targets in DataLoader(TensorDataset(x, y), batch_size=64, shuffle=True):
    loss = step(inputs, targets)
"""

from .collate import default_collate, default_convert
from .dataloader import DataLoader
from .dataset import (
    ChainDataset,
    ConcatDataset,
    Dataset,
    IterableDataset,
    Subset,
    TensorDataset,
    random_split,
)
from .sampler import (
    BatchSampler,
    RandomSampler,
    Sampler,
    SequentialSampler,
    StratifiedSampler,
    SubsetRandomSampler,
    WeightedRandomSampler,
)
from .sequences import CharDataset, WindowDataset, read_wav
from .tables import TableDataset, from_arrays, from_csv, from_parquet
from .workers import WorkerInfo, get_worker_info

__all__ = [
    "BatchSampler", "ChainDataset", "CharDataset", "ConcatDataset", "DataLoader", "Dataset",
    "IterableDataset", "RandomSampler", "Sampler", "SequentialSampler", "StratifiedSampler",
    "Subset", "SubsetRandomSampler", "TableDataset", "TensorDataset", "WeightedRandomSampler",
    "WindowDataset", "WorkerInfo", "default_collate", "default_convert", "from_arrays", "from_csv",
    "from_parquet", "get_worker_info", "random_split", "read_wav",
]  # fmt: skip
