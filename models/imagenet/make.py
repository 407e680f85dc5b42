"""Makes imagenet/labels*.json: the names of ImageNet's 1000 classes in one language, as a JSON
array with one name per line.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

# A script that is run by its path only sees its own folder; shared modules are two folders up.
sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from models.making import command

CLASSES = 1000


def convert(data: bytes) -> bytes:
    """Converts {"0": name, ...} to [name, ...], in class order. Raises ValueError."""
    names = json.loads(data)
    expected = {str(index) for index in range(CLASSES)}
    if not isinstance(names, dict) or names.keys() != expected:
        raise ValueError(f"the labels are not an object with the keys 0 to {CLASSES - 1}")
    ordered = [names[str(index)] for index in range(CLASSES)]
    return (json.dumps(ordered, ensure_ascii=False, indent=0) + "\n").encode()


if __name__ == "__main__":
    sys.exit(command.run(__file__, convert))
