"""Patterns in RE2's syntax. What they match is compared with onnxruntime, which uses RE2 itself, in
cases/texts.py; here is what they cost, and what is refused."""

from __future__ import annotations

import random

import pytest

from tallow.errors import OnnxFormatError, OnnxUnsupportedError
from tallow.formats.onnx.re2 import automaton, compiled
from tallow.formats.onnx.re2 import characters as ch


@pytest.mark.parametrize(
    "pattern",
    ["(a+)+$", "(a|a)*b", "(a|ab|b)*c", "(a|b)*a(a|b){9}c", "((a?){50}b?)*c", r"(\b|a)*b"],
)
def test_a_text_of_twice_the_length_costs_twice_the_steps(pattern: str) -> None:
    """Python's own matcher never finishes the first of these."""

    def steps(length: int) -> int:
        made = compiled(pattern)
        assert not made.matches("ab" * length + "!")
        return made.steps

    assert steps(4000) <= 2.5 * steps(2000)


def test_no_character_is_looked_at_by_more_than_all_instructions() -> None:
    made = compiled("(a|b)*a(a|b){300}")
    letters = random.Random(0).choices("ab", k=2000)
    made.matches("".join(letters))
    assert made.steps <= 2 * made.size * len(letters)


def test_what_is_cached_is_bounded_and_what_was_forgotten_is_found_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    text = "".join(random.Random(1).choices("ab", k=3000))
    answers = []
    for most in (1 << 20, 200):
        monkeypatch.setattr(automaton, "MAX_CACHED", most)
        made = compiled("(a|b)*a(a|b){8}")
        answers.append([made.matches(text[: 1000 + i]) for i in range(50)])
        assert made._cached <= most + 100
    assert answers[0] == answers[1] and len(set(answers[0])) == 2


@pytest.mark.parametrize(
    ("pattern", "why"),
    [
        (r"(a)\1", "no backreferences"),
        ("(?=a)", "look-around"),
        ("(?<!a)", "look-around"),
        ("(?>a)", "look-around"),
        ("(?P=a)", "RE2"),
        ("(?x)a", "no such flag"),
        ("(?i", "unterminated flags"),
        ("a++", "repetition of a repetition"),
        ("a{2}*", "repetition of a repetition"),
        ("|*", "repetition of nothing"),
        ("a{3,1}", "from 3 to 1"),
        ("a{1001}", "1,001 repetitions; the maximum is 1,000"),
        ("(a{1000}){1000}", "1,000,000 repetitions; the maximum is 1,000"),
        ("(a", "without )"),
        ("a)", "unmatched )"),
        ("[a", "without ]"),
        ("[b-a]", "from 'b' to 'a'"),
        ("[[:foo:]]", "foo"),
        (r"a\Z", r"\\Z"),
        (r"[\b]", r"\\b"),
        ("a\\", "at the end"),
        (r"\x{110000}", "0x110000"),
        ("(?P<n>a)(?P<n>b)", "two groups"),
        ("(?P<?<n>a)", "not a valid group name"),
    ],
)
def test_what_re2_refuses_is_refused(pattern: str, why: str) -> None:
    with pytest.raises(OnnxFormatError, match="not in RE2's syntax") as caught:
        compiled(pattern)
    assert why.replace("\\\\", "\\") in str(caught.value)


@pytest.mark.parametrize(
    ("pattern", "why"),
    [
        (r"\C", "a single byte"),
        (r"\p{Greek}", "general category"),
        ("(" * 101 + ")" * 101, "100 nested groups"),
        ("(" * 5000, "100 nested groups"),
        ("a" * 20_000, "20,000 instructions; the maximum is 16,384"),
        ("(a{900}|b)" * 20, "instructions; the maximum is 16,384"),
        ("(((((a{9}|b)*c)?){9}|d){9}){1}" * 20, "instructions; the maximum is 16,384"),
    ],
)
def test_what_tallow_lacks_or_is_too_large_is_refused(pattern: str, why: str) -> None:
    with pytest.raises(OnnxUnsupportedError, match=why):
        compiled(pattern)


@pytest.mark.parametrize(
    "pattern", ["", "abc", "a|bc|", "(ab|c){2,5}", "(a*|b){3,}", "x?y+z*", "(a{0}b){7}", r"^\b$"]
)
def test_the_size_is_known_before_anything_is_made(pattern: str) -> None:
    from tallow.formats.onnx.re2.syntax import parse

    assert compiled(pattern).size <= parse(pattern).size + 1


def test_sets_of_characters() -> None:
    digits, letters = ch.span(48, 57), ch.union([ch.span(97, 122), ch.span(65, 90)])
    assert letters == (65, 91, 97, 123)
    assert ch.union([letters, ch.span(80, 100), digits]) == (48, 58, 65, 123)
    assert ch.complement(letters) == (0, 65, 91, 97, 123, ch.END)
    assert ch.complement(ch.complement(letters)) == letters
    assert ch.complement(ch.ALL) == () and ch.complement(()) == ch.ALL
    assert [ch.contains(digits, code) for code in (47, 48, 57, 58)] == [False, True, True, False]
    assert ch.folded(ch.span(107, 107)) == (75, 76, 107, 108, 0x212A, 0x212B)
