"""Facts: attributes that decide what a function builds, such as the mode of a module.

A setter counts the change by itself; a read within a trace notes the value. A plan of `@tl.jit`
serves while all facts that its function read have the values that it read. Values decide, so that
`train()`, `eval()`, `train()` finds the first plan again; counts only say what to compare again.

`Fact` is an attribute of a class, `Table` a dict and `Items` a list that count their own changes.
`noting` has the plain attributes of modules be noted too, while a function is traced. What can
change without a count is compared at every call: a list or a tensor in a plain attribute, and what
is found on a class.
"""

from .declared import Fact, ReadOnly
from .identity import MISSING, Same, identity
from .notes import Facts, Notes, became, noting, wrote
from .reads import reads
from .tables import Items, Table

__all__ = [
    "MISSING", "Fact", "Facts", "Items", "Notes", "ReadOnly", "Same", "Table", "became", "identity",
    "noting", "reads", "wrote",
]  # fmt: skip
