"""Numbers of a kernel that stand outside its text, so that kernels of one form share a pipeline.

Compiling a pipeline takes far longer than running it. Networks repeat a few forms of kernel at many
shapes; with the shapes in the text every one would be compiled again. So override constants and
index literals become fields of a uniform, `params`, whose values travel in the plan.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

# Up to 4 a literal belongs to the form: lanes of a vec4, halves of a word.
_MAX_OF_FORM = 4
_LITERAL = re.compile(r"(?<![\w.])(\d+)u\b")
_OVERRIDE = re.compile(r"\boverride (\w+): u32;[ \n]?")


# Why: docs/decisions/webgpu.md, "Shapes travel in a uniform, not in the text"
@dataclass
class Params:
    """The fields of the uniform, in order, with their values."""

    values: dict[str, int] = field(default_factory=dict)

    def lift(self, text: str) -> str:
        """Generated text with its literals as fields, each occurrence one of its own.

        Equal numbers are kept apart: they may differ in the next kernel of the same form.
        """

        def replace(match: re.Match[str]) -> str:
            value = int(match[1])
            if value <= _MAX_OF_FORM:
                return match[0]
            name = f"n{len(self.values)}"
            self.values[name] = value
            return f"params.{name}"

        return _LITERAL.sub(replace, text)

    def lift_overrides(self, text: str, values: dict[str, int]) -> str:
        """A kernel's text with its u32 override constants as fields."""
        names = _OVERRIDE.findall(text)
        self.values.update({name: values[name] for name in names})
        text = _OVERRIDE.sub("", text)
        for name in names:
            text = re.sub(rf"\b{name}\b", f"params.{name}", text)
        return text

    def declaration(self, binding: int) -> str:
        """The WGSL that declares the uniform; empty if it has no field."""
        if not self.values:
            return ""
        fields = ", ".join(f"{name}: u32" for name in self.values)
        return (
            f"struct Params {{ {fields} }}\n"
            f"@group(0) @binding({binding}) var<uniform> params: Params;\n"
        )
