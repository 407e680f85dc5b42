"""Where somebody speaks in a sound: Silero's voice detector, version 6 (github.com/snakers4/
silero-vad), with the names of its ONNX file for 16,000 samples a second."""

from __future__ import annotations

from array import array
from typing import Any

from .. import functional, nn
from .. import functions as f
from ..core.drivers import Steps, YieldControl, run_async, run_sync
from ..errors import ShapeError
from ..functional.recurrent import recurrence
from ..grad_mode import no_grad
from ..runtime.jit import jit
from ..tensor import Tensor, reading
from .sounds import RATE, Resampler, host_tensor
from .turns import CHUNK, Hearing, Span, Turns

BEFORE = 64
"""Samples of the chunk before that each chunk is heard with."""
_WIDTH = 128
_BLOCK = 16
"""Chunks that are computed at once: half a second."""


class _Layer(nn.Module):
    """A convolution; each of the encoder's was trained as several."""

    def __init__(self, ins: int, outs: int, stride: int) -> None:
        super().__init__()
        self.reparam_conv = nn.Conv1d(ins, outs, 3, stride, padding=1)


class SileroVAD(nn.Module):
    """Chunks of a sound to probabilities of speech.

    A chunk is 512 samples, 16,000 a second, behind the 64 before them. A Fourier transform and
    four convolutions make a vector of it, and an LSTM remembers the chunks before.
    """

    def __init__(self) -> None:
        super().__init__()
        self.stft = nn.Module()
        self.stft.register_parameter("forward_basis_buffer", nn.Parameter(f.zeros((258, 1, 256))))
        sizes = (129, 128, 1), (128, 64, 2), (64, 64, 2), (64, _WIDTH, 1)
        self.encoder = nn.ModuleList([_Layer(*each) for each in sizes])
        self.decoder = nn.Module()
        self.decoder.add_module("rnn", nn.LSTMCell(_WIDTH, _WIDTH))
        last = nn.Sequential(nn.Dropout(0.1), nn.ReLU(), nn.Conv1d(_WIDTH, 1, 1), nn.Sigmoid())
        self.decoder.add_module("decoder", last)

    def forward(self, chunks: Tensor, states: Tensor) -> tuple[Any, Any]:
        """chunks: float32 (n, 576), one after the other. states: (2, 1, 128), the LSTM's, zeros at
        a sound's begin. Returns the probabilities (n,) and the states behind the last chunk. Raises
        ShapeError for other shapes."""
        if chunks.ndim != 2 or chunks.shape[1] != BEFORE + CHUNK:
            raise ShapeError(f"SileroVAD: chunks {chunks.shape}; expected (n, {BEFORE + CHUNK})")
        if states.shape != (2, 1, _WIDTH):
            raise ShapeError(f"SileroVAD: states {states.shape}; expected (2, 1, {_WIDTH})")
        padded = functional.pad(f.expand_dims(chunks, 1), (0, 64), "reflect")
        waves = functional.conv1d(padded, self.stft.forward_basis_buffer, stride=128)
        real, imaginary = waves[:, :129], waves[:, 129:]
        x = f.sqrt(real * real + imaginary * imaginary)
        for layer in self.encoder:
            x = functional.relu(layer.reparam_conv(x))
        cell = self.decoder.rnn
        hidden, after = recurrence(
            "lstm",
            f.permute_dims(x, (0, 2, 1)),
            f.expand_dims(cell.weight_ih, 0),
            f.expand_dims(cell.weight_hh, 0),
            bias=f.expand_dims(f.concat([cell.bias_ih, cell.bias_hh]), 0),
            states=f.expand_dims(states, 1),
            order=(0, 3, 1, 2),
        )
        x = self.decoder.decoder(f.permute_dims(hidden[:, 0], (0, 2, 1)))
        return x[:, 0, 0], after[:, 0]


class VoiceDetector:
    """Sounds to the times at which somebody speaks.

    net: a SileroVAD with its weights; it is set to `eval`.
    """

    def __init__(self, net: SileroVAD) -> None:
        self.net = net.eval()
        self._run = jit(self.net.forward)
        self._resampler = Resampler("speech")

    def speech(self, samples: Any, rate: int = RATE, **hearing: float) -> list[Span]:
        """When somebody speaks; blocks.

        samples: floating numbers between -1 and 1, (n,): a tensor, an array or a list.
        rate: samples a second; they are resampled to 16,000.
        hearing: threshold (0.5), and in seconds min_speech (0.25), min_silence (0.1), padding
          (0.03) and longest (without end): see `zoo.turns.Hearing`.
        Returns: the turns, in order, each from `start` to `end` in seconds.
        Raises: ShapeError for samples with other axes; OptionError for integers, samples that are
          not finite, a rate that is none, and options out of range.
        """
        return run_sync(self._speech(samples, rate, Hearing(**hearing)))

    async def speech_async(self, samples: Any, rate: int = RATE, **hearing: float) -> list[Span]:
        """As `speech`, without blocking the event loop."""
        return await run_async(self._speech(samples, rate, Hearing(**hearing)))

    def stream(self, **hearing: float) -> VoiceStream:
        """For a sound that is still being recorded. hearing: as of `speech`."""
        return VoiceStream(self, Hearing(**hearing))

    def _speech(self, samples: Any, rate: int, hearing: Hearing) -> Steps[list[Span]]:
        wave = yield from self._resampler.at_rate(samples, rate, 30 * RATE)
        stream = VoiceStream(self, hearing)
        return (yield from stream.adding(wave, is_last=True))

    def probabilities(self, chunks: memoryview, states: Tensor) -> Steps[tuple[list[Any], Tensor]]:
        """Those of a block of chunks, and the states behind it."""
        with no_grad():
            found, after = self._run(host_tensor(chunks, _BLOCK, BEFORE + CHUNK), states)
        (read,) = yield from reading([found])
        return read.flat(), after


class VoiceStream:
    """When somebody speaks in a sound whose samples come piece by piece, 16,000 a second."""

    def __init__(self, detector: VoiceDetector, hearing: Hearing) -> None:
        self._detector = detector
        self._turns = Turns(hearing)
        self._states = host_tensor(memoryview(bytes(8 * _WIDTH)), 2, 1, _WIDTH)
        self._rest = array("f", bytes(4 * BEFORE))
        """Samples that no probability is of yet, behind those before them."""
        self._heard = 0

    @property
    def began(self) -> float | None:
        """Since when somebody speaks, in seconds, whose turn was not given out yet."""
        began = self._turns.began
        return None if began is None else began / RATE

    def add(self, samples: Any, *, is_last: bool = False) -> list[Span]:
        """Hears more of the sound; blocks. samples: float32 (n,), 16,000 a second. is_last: whether
        the sound ends here. Returns the turns that have ended."""
        return run_sync(self._adding(samples, is_last))

    async def add_async(self, samples: Any, *, is_last: bool = False) -> list[Span]:
        """As `add`, without blocking the event loop."""
        return await run_async(self._adding(samples, is_last))

    def _adding(self, samples: Any, is_last: bool) -> Steps[list[Span]]:
        wave = yield from self._detector._resampler.at_rate(samples, RATE, RATE)
        return (yield from self.adding(wave, is_last))

    def adding(self, wave: memoryview[float], is_last: bool) -> Steps[list[Span]]:
        """The steps of `add`."""
        size, begin = _BLOCK * CHUNK, 0
        sound = self._rest
        sound.frombytes(wave.cast("B"))
        self._heard += len(wave)
        count = len(sound) - BEFORE
        while count - begin >= size or (is_last and begin < count):
            chunks = array("f")
            for at in range(begin, min(begin + size, count), CHUNK):
                chunks.extend(sound[at : at + BEFORE + CHUNK])
            chunks.frombytes(bytes(4 * (_BLOCK * (BEFORE + CHUNK) - len(chunks))))
            found, self._states = yield from self._detector.probabilities(
                memoryview(chunks).cast("B"), self._states
            )
            for probability in found[: -(-(count - begin) // CHUNK)]:
                self._turns.add(probability)
            begin += size
            yield YieldControl()
        self._rest = sound[min(begin, count) :]
        if is_last:
            self._turns.ended(self._heard)
        turns = self._turns.take(is_last)
        return [Span(start / RATE, end / RATE) for start, end in turns]
