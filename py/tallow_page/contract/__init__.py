"""What crosses between JavaScript and Python as JSON, each record once.

Only type checkers import this; web/shared/contract.d.ts is written from it (`python -m
tallow_build.contract`). Beside these records cross strings, numbers and buffers.
"""

# Why: docs/decisions/page.md, "The contract is types alone"
