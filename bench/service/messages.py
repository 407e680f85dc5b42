"""Requests of the protocol over HTTP as bytes, by Triton's client."""

from __future__ import annotations

from collections.abc import Mapping
from types import ModuleType
from typing import Any

import tritonclient.http
from tritonclient.utils import np_to_triton_dtype

LENGTH = "inference-header-content-length"
"""The header with the length of the JSON before binary tensors."""


def inputs(feeds: Mapping[str, Any], module: ModuleType = tritonclient.http) -> list[Any]:
    """The inputs of a request. module: tritonclient.http, or .grpc."""
    found = []
    for name, array in feeds.items():
        kind = np_to_triton_dtype(array.dtype)
        found.append(module.InferInput(name, list(array.shape), kind))
        found[-1].set_data_from_numpy(array)
    return found


def request(feeds: Mapping[str, Any], **more: Any) -> tuple[bytes, dict[str, str]]:
    """Body and headers of a request with binary tensors, whose answer is to be binary, too."""
    client: Any = tritonclient.http.InferenceServerClient
    body, length = client.generate_request_body(inputs(feeds), **more)
    return body, {LENGTH: str(length), "content-type": "application/octet-stream"}
