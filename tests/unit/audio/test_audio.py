"""Spectrograms beside what PyTorch and transformers gave; resampled tones; what is refused."""

from __future__ import annotations

import math

import numpy as np
import pytest
from tests.unit.audio.record import RECORDED, sound

import tallow as tl
from tallow import audio
from tallow.errors import OptionError, ShapeError


@pytest.fixture(scope="module")
def recorded() -> dict[str, np.ndarray]:
    with np.load(RECORDED) as archive:
        return dict(archive)


def test_a_spectrogram_is_that_of_pytorch(recorded: dict[str, np.ndarray]) -> None:
    found = audio.spectrogram(tl.asarray(sound(4000)), 256, 100).numpy()
    wanted = recorded["spectrogram"]
    assert found.shape == wanted.shape
    assert np.abs(found - wanted).max() < 1e-5 * wanted.max()
    amplitudes = audio.spectrogram(tl.asarray(sound(4000)), 256, 100, power=1).numpy()
    np.testing.assert_allclose(amplitudes**2, found, rtol=1e-4, atol=1e-4)


def test_filters_are_those_of_transformers(recorded: dict[str, np.ndarray]) -> None:
    found = audio.mel_filters(40, 256, 8000, 50.0, 3800.0).numpy()
    np.testing.assert_allclose(found, recorded["filters"], atol=1e-7)


def test_features_are_those_that_whisper_was_trained_with(
    recorded: dict[str, np.ndarray],
) -> None:
    found = audio.log_mel_spectrogram(tl.asarray(sound())).numpy()
    assert found.shape == recorded["features"].shape == (80, 150)
    assert np.abs(found - recorded["features"]).max() < 1e-4


def test_sounds_in_a_batch_are_as_alone() -> None:
    waves = np.stack([sound(2000), sound(2000)[::-1]])
    both = audio.mel_spectrogram(tl.asarray(waves), n_mels=20).numpy()
    assert both.shape == (2, 20, 11)
    for wave, found in zip(waves, both, strict=True):
        alone = audio.mel_spectrogram(tl.asarray(wave), n_mels=20).numpy()
        np.testing.assert_allclose(alone, found, rtol=1e-5)


@pytest.mark.parametrize(("orig", "new"), [(44100, 16000), (8000, 16000), (48000, 16000)])
def test_a_tone_keeps_its_height(orig: int, new: int) -> None:
    def tone(rate: int) -> np.ndarray:
        return np.sin(2 * np.pi * 440 * np.arange(rate // 5) / rate).astype(np.float32)

    found = audio.resample(tl.asarray(tone(orig)), orig, new).numpy()
    assert found.shape == (new // 5,)
    inside = slice(200, -200)
    assert np.abs(found - tone(new))[inside].max() < 2e-3


def test_a_tone_that_is_too_high_is_left_out() -> None:
    high = np.sin(2 * np.pi * 12000 * np.arange(9600) / 48000).astype(np.float32)
    found = audio.resample(tl.asarray(high), 48000, 16000).numpy()
    assert np.abs(found[200:-200]).max() < 0.01


def test_lengths_are_rounded_up_and_a_rate_may_stay() -> None:
    wave = tl.asarray(sound(1001))
    assert audio.resample(wave, 48000, 16000).shape == (math.ceil(1001 / 3),)
    assert audio.resample(wave, 16000, 16000) is wave


def test_what_fits_no_sound_is_refused() -> None:
    wave = tl.asarray(sound(1000))
    with pytest.raises(ShapeError, match="more than 200 samples"):
        audio.spectrogram(wave[:200])
    with pytest.raises(ShapeError, match="expected"):
        audio.log_mel_spectrogram(tl.zeros((2, 1000)))
    with pytest.raises(OptionError, match="power=3"):
        audio.spectrogram(wave, power=3)
    with pytest.raises(OptionError, match="0 samples apart"):
        audio.spectrogram(wave, hop_length=0)
    with pytest.raises(OptionError, match="from 900"):
        audio.mel_filters(10, 400, 1000, 900.0)
    with pytest.raises(OptionError, match="common factor"):
        audio.resample(wave, 44099, 16000)
    for rate in (0, -8000, 1.5, True):
        with pytest.raises(OptionError, match="samples a second"):
            audio.resample(wave, rate, 16000)  # type: ignore[arg-type]
    with pytest.raises(ShapeError, match="axis of samples"):
        audio.resample(tl.asarray(1.0), 8000, 16000)
