"""Methods of tensors that no function of the array API is: views, conversions, facts, changes in
place, and PyTorch's meaning of names that the standard has with another one.

Their names, and those of the functions that are methods as they are, stand in names.py; binding.py
gives them to `Tensor`.
"""
