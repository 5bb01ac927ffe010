"""Tells by its name whether a model can talk. Servers list those for embeddings, speech and pictures beside them."""

from __future__ import annotations

import re

_ANYWHERE = (
    "embed",
    "whisper",
    "rerank",
    "moderation",
    "transcri",
    "dall-e",
    "diffusion",
    "mmproj",
    "text-to-speech",
    "speech-to-text",
    "wav2vec",
    "minilm",
    "musicgen",
)
_WORDS = re.compile(
    r"(?:^|[^a-z0-9])(?:tts|asr|bge|gte|e5|clip|siglip|sdxl|flux|sora|vae|realtime|image|bert|colbert|kokoro|piper"
    r"|davinci-002|babbage-002)(?:[^a-z0-9]|$)"
)


def talks(model: str) -> bool:
    """Whether a model is one to talk to, as far as its name says."""
    name = model.lower()
    return not any(part in name for part in _ANYWHERE) and _WORDS.search(name) is None
