"""Metrics of text. Perplexity computes on the device; the others compare words, in Python."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Hashable, Sequence
from typing import Any

from .. import functions as f
from ..errors import OptionError, ShapeError
from ..functional import log_softmax
from ..tensor import Tensor, asarray
from .metric import Summed
from .tasks import divided, one_of

Texts = str | Sequence[str]


class Perplexity(Summed):
    """The exponential of the mean negative log-likelihood of tokens.

    Predictions are scores (N, S, V), targets integers (N, S).

    ignore_index: a target that does not count; None is none.
    Raises: ShapeError for other shapes.
    Source: torchmetrics, `Perplexity`.
    """

    higher_is_better = False

    def __init__(self, ignore_index: int | None = None) -> None:
        super().__init__()
        self.ignore_index = ignore_index
        self.add_state("total", asarray(0.0))
        self.add_state("count", asarray(0, "int32"))

    def of_batch(self, preds: Tensor, target: Tensor) -> list[Tensor]:
        if preds.ndim != 3 or tuple(preds.shape[:2]) != tuple(target.shape):
            raise ShapeError(
                f"Perplexity: preds {tuple(preds.shape)} and target {tuple(target.shape)} are not "
                "(N, S, V) and (N, S)"
            )
        target = f.expand_dims(target, -1)
        hit = target == f.arange(preds.shape[-1])
        if self.ignore_index is not None:
            hit = hit & (target != self.ignore_index)
        likely = log_softmax(preds.astype("float32"), -1)
        return [-f.where(hit, likely, 0.0).sum(), hit.astype("int32").sum()]

    def of_states(self, *states: Tensor) -> Tensor:
        return f.exp(states[0] / states[1].astype("float32"))


def _texts(name: str, preds: Texts, target: Any) -> tuple[list[str], list[Any]]:
    """Both as lists. Raises ShapeError if they are not equally many."""
    predicted = [preds] if isinstance(preds, str) else list(preds)
    wanted = [target] if isinstance(target, str) else list(target)
    if len(predicted) != len(wanted):
        raise ShapeError(f"{name}: {len(predicted)} predictions of {len(wanted)} targets")
    return predicted, wanted


def edit_distance(a: Sequence[Hashable], b: Sequence[Hashable]) -> int:
    """How many insertions, deletions and substitutions make `a` of `b` (Levenshtein 1966)."""
    row = list(range(len(b) + 1))
    for i, left in enumerate(a, 1):
        diagonal, row[0] = row[0], i
        for j, right in enumerate(b, 1):
            least = diagonal if left == right else 1 + min(diagonal, row[j], row[j - 1])
            diagonal, row[j] = row[j], least
    return row[-1]


class CharErrorRate(Summed):
    """How many characters have to be edited, for each character of the targets.

    Predictions and targets are a text each, or equally many. Source: torchmetrics, `CharErrorRate`.
    """

    higher_is_better = False

    def __init__(self) -> None:
        super().__init__()
        self.add_state("errors", asarray(0.0))
        self.add_state("total", asarray(0.0))

    def units(self, text: str) -> Sequence[str]:
        """What is counted of a text."""
        return text

    def of_batch(self, preds: Texts, target: Texts) -> list[Tensor]:
        pairs = [
            (self.units(p), self.units(t))
            for p, t in zip(*_texts(type(self).__name__, preds, target), strict=True)
        ]
        errors, total = sum(edit_distance(p, t) for p, t in pairs), sum(len(t) for _, t in pairs)
        return [asarray(float(errors)), asarray(float(total))]

    def of_states(self, *states: Tensor) -> Tensor:
        return states[0] / states[1]


class WordErrorRate(CharErrorRate):
    """How many words have to be edited, for each word of the targets. Source: torchmetrics,
    `WordErrorRate`."""

    def units(self, text: str) -> Sequence[str]:
        return text.split()


def _ngrams(words: Sequence[str], length: int) -> Counter[tuple[str, ...]]:
    return Counter(tuple(words[at : at + length]) for at in range(len(words) - length + 1))


class BLEUScore(Summed):
    """The geometric mean of the precisions of n-grams, less if predictions are short.

    Targets are lists of references for each prediction, or one each.

    n_gram: the longest n-grams.
    smooth: whether precisions beyond single words get one hit more (Lin and Och 2004).
    weights: of the precisions; None weighs all alike.
    Raises: OptionError for weights that are not n_gram.
    Source: Papineni et al. 2002, "BLEU: a method for automatic evaluation of machine translation";
    torchmetrics, `BLEUScore`.
    """

    higher_is_better = True

    def __init__(
        self, n_gram: int = 4, smooth: bool = False, weights: Sequence[float] | None = None
    ) -> None:
        super().__init__()
        if weights is not None and len(weights) != n_gram:
            raise OptionError(f"BLEUScore: {len(weights)} weights for n_gram={n_gram}")
        self.n_gram, self.smooth = n_gram, smooth
        self.weights = [1 / n_gram] * n_gram if weights is None else list(weights)
        for name, size in (("hits", n_gram), ("total", n_gram), ("lengths", 2)):
            self.add_state(name, f.zeros((size,)))

    def of_batch(self, preds: Texts, target: Sequence[Texts]) -> list[Tensor]:
        hits, total, lengths = [0.0] * self.n_gram, [0.0] * self.n_gram, [0.0, 0.0]
        for text, given in zip(*_texts("BLEUScore", preds, target), strict=True):
            words = text.split()
            references = [x.split() for x in ([given] if isinstance(given, str) else given)]
            nearest = min(references, key=lambda each: abs(len(words) - len(each)))
            lengths = [lengths[0] + len(words), lengths[1] + len(nearest)]
            for n in range(self.n_gram):
                found, allowed = _ngrams(words, n + 1), Counter[tuple[str, ...]]()
                for each in references:
                    allowed |= _ngrams(each, n + 1)
                hits[n] += (found & allowed).total()
                total[n] += found.total()
        return [asarray(hits), asarray(total), asarray(lengths)]

    def of_states(self, *states: Tensor) -> Tensor:
        hits, total, lengths = states
        precision = divided(hits, total)
        if self.smooth:
            smoothed = (hits + 1.0) / (total + 1.0)
            precision = f.where(f.arange(self.n_gram) == 0, precision, smoothed)
        some = f.min(hits) > 0
        mean = f.exp((asarray(self.weights) * f.log(f.where(some, precision, 1.0))).sum())
        short = f.exp(1.0 - divided(lengths[1], lengths[0]))
        return f.where(some, f.where(lengths[0] > lengths[1], 1.0, short) * mean, 0.0)


def _common(a: Sequence[str], b: Sequence[str]) -> int:
    """The length of the longest common subsequence."""
    row = [0] * (len(b) + 1)
    for left in a:
        diagonal = 0
        for j, right in enumerate(b, 1):
            longest = diagonal + 1 if left == right else max(row[j], row[j - 1])
            diagonal, row[j] = row[j], longest
    return row[-1]


class ROUGEScore(Summed):
    """What predictions and targets have in common: n-grams, or the longest common subsequence.

    Targets are a text for each prediction, or lists of references. The value is a dict of
    NAME_fmeasure, NAME_precision and NAME_recall, means over predictions.

    use_stemmer: has to be False; a stemmer of your own can be part of `tokenizer`.
    normalizer: prepares a text; None takes small letters a to z and digits, and spaces.
    tokenizer: splits a text; None splits at spaces.
    accumulate: of several references the "best" F-measure, or their "avg".
    rouge_keys: "rouge1" to "rouge9" for n-grams, "rougeL" for the subsequence.
    Raises: OptionError for other options.
    Source: Lin 2004, "ROUGE: a package for automatic evaluation of summaries"; torchmetrics,
    `ROUGEScore`, which also has "rougeLsum", with a splitter of sentences from NLTK.
    """

    higher_is_better = True

    def __init__(
        self,
        use_stemmer: bool = False,
        normalizer: Callable[[str], str] | None = None,
        tokenizer: Callable[[str], Sequence[str]] | None = None,
        accumulate: str = "best",
        rouge_keys: Texts = ("rouge1", "rouge2", "rougeL"),
    ) -> None:
        super().__init__()
        if use_stemmer:
            raise OptionError("ROUGEScore: use_stemmer is not available; stem in a `tokenizer`")
        one_of("ROUGEScore: accumulate", accumulate, ("best", "avg"))
        self.keys = [rouge_keys] if isinstance(rouge_keys, str) else list(rouge_keys)
        for key in self.keys:
            allowed = (*(f"rouge{n}" for n in range(1, 10)), "rougeL")
            one_of("ROUGEScore: rouge_keys", key, allowed)
        self.normalizer, self.tokenizer, self.best = normalizer, tokenizer, accumulate == "best"
        self.add_state("total", f.zeros((len(self.keys), 3)))
        self.add_state("count", asarray(0.0))

    def words(self, text: str) -> list[str]:
        """The words of a text that are compared."""
        prepare = self.normalizer or (lambda x: re.sub(r"[^a-z0-9]+", " ", x.lower()))
        return [each for each in (self.tokenizer or str.split)(prepare(text)) if each]

    def of_batch(self, preds: Texts, target: Sequence[Texts] | str) -> list[Tensor]:
        if isinstance(preds, str) and not isinstance(target, str):
            target = [target] if all(isinstance(each, str) for each in target) else target  # type: ignore[list-item]
        predicted, wanted = _texts("ROUGEScore", preds, target)
        total = [[0.0] * 3 for _ in self.keys]
        for text, given in zip(predicted, wanted, strict=True):
            words = self.words(text)
            references = [self.words(x) for x in ([given] if isinstance(given, str) else given)]
            for row, key in zip(total, self.keys, strict=True):
                scores = [_rouge(words, each, key.removeprefix("rouge")) for each in references]
                if self.best:
                    scores = [max(scores, key=lambda each: each[0])]
                for at in range(3):
                    row[at] += sum(each[at] for each in scores) / len(scores)
        return [asarray(total), asarray(float(len(predicted)))]

    def of_states(self, *states: Tensor) -> dict[str, Tensor]:
        means = states[0] / states[1]
        return {
            f"{key}_{kind}": means[row, at]
            for row, key in enumerate(self.keys)
            for at, kind in enumerate(("fmeasure", "precision", "recall"))
        }


def _rouge(pred: list[str], target: list[str], kind: str) -> tuple[float, float, float]:
    """(F-measure, precision, recall)."""
    if kind == "L":
        hits, found, wanted = _common(pred, target), len(pred), len(target)
    else:
        left, right = _ngrams(pred, int(kind)), _ngrams(target, int(kind))
        hits, found, wanted = (left & right).total(), left.total(), right.total()
    if not hits:
        return 0.0, 0.0, 0.0
    precision, recall = hits / found, hits / wanted
    return 2 * precision * recall / (precision + recall), precision, recall
