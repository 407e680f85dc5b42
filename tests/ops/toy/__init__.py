"""A device that is one folder: a target, and what runs plans, on plain Python lists.

It shows what a device needs. `core.devices.KINDS["toy"] = "tests.ops.toy"` registers it.
"""
