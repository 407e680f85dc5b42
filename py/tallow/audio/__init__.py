"""Sounds as data: spectrograms, the mel scale, other sampling rates; torchaudio's names of
arguments."""

from .resampling import resample
from .spectrograms import log_mel_spectrogram, mel_filters, mel_spectrogram, spectrogram

__all__ = ["log_mel_spectrogram", "mel_filters", "mel_spectrogram", "resample", "spectrogram"]
