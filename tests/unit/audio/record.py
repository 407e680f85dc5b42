"""Records what PyTorch and transformers give for a sound, where both are installed:

    PYTHONPATH=py python -m tests.unit.audio.record

The project itself needs neither: what they gave stands in recorded.npz.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

RECORDED = Path(__file__).parent / "recorded.npz"


def sound(samples: int = 24000, rate: int = 16000) -> np.ndarray:
    """A tone that rises, another that fades, and noise, float32."""
    time = np.arange(samples) / rate
    rising = np.sin(2 * np.pi * (200 + 1500 * time) * time)
    fading = np.exp(-3 * time) * np.sin(2 * np.pi * 3000 * time)
    noise = np.random.default_rng(2).standard_normal(samples)
    return (0.4 * rising + 0.3 * fading + 0.01 * noise).astype(np.float32)


def main() -> None:
    """Records a spectrogram, filters and features."""
    import torch  # type: ignore[import-not-found]
    from transformers import WhisperFeatureExtractor  # type: ignore[import-not-found]
    from transformers.audio_utils import mel_filter_bank  # type: ignore[import-not-found]

    extractor = WhisperFeatureExtractor()
    features = extractor(sound(), sampling_rate=16000, padding="do_not_pad").input_features[0]
    spectrum = torch.stft(
        torch.tensor(sound(4000)), 256, 100, window=torch.hann_window(256), return_complex=True
    )
    filters = mel_filter_bank(129, 40, 50.0, 3800.0, 8000, "slaney", "slaney")
    np.savez_compressed(
        RECORDED,
        features=np.asarray(features, np.float32),
        spectrogram=(spectrum.abs() ** 2).numpy(),
        filters=filters.T.astype(np.float32),
    )


if __name__ == "__main__":
    main()
