"""Where binding.py puts the methods and operators of tensors that names.py lists. methods.pyi has
their signatures, for editors and type checkers."""


class Methods:
    """The methods that `Tensor` has beside its own."""

    __slots__ = ()
