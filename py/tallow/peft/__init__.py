"""Adapters of networks: LoRA, in the files and under the names of Hugging Face's PEFT."""

from .adapters import load, load_async, save
from .lora import LoRALayer, lora, merge, unload

__all__ = ["LoRALayer", "load", "load_async", "lora", "merge", "save", "unload"]
