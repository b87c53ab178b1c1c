"""Decodes Content-Encoding with a limit on the decoded size."""

from __future__ import annotations

import zlib
from collections.abc import Iterator

ACCEPT_ENCODING = "gzip, deflate"
CHUNK_SIZE = 65_536
MAX_LAYERS = 2

_GZIP = 16 + zlib.MAX_WBITS


class BrokenEncoding(ValueError):
    """The body does not match its Content-Encoding."""


class BodyTooLarge(Exception):
    """The decoded body exceeds the limit."""


class _Layer:
    def __init__(self, gzip: bool, limit: int) -> None:
        self._gzip = gzip
        self._left = limit
        self._zlib = zlib.decompressobj(_GZIP if gzip else zlib.MAX_WBITS)
        self._began = False

    def feed(self, data: bytes) -> Iterator[bytes]:
        while data or not self._zlib.eof:
            piece = self._inflate(data)
            data = self._zlib.unconsumed_tail
            if piece:
                # Counted in each layer: a nested decompression bomb expands in the inner one.
                self._left -= len(piece)
                yield piece
            if self._left < 0:
                raise BodyTooLarge
            if self._zlib.eof:
                data = self._next_member()
                if not data:
                    return
            elif not data and len(piece) < CHUNK_SIZE:
                return

    def ended(self) -> bool:
        return self._zlib.eof or not self._began

    def _inflate(self, data: bytes) -> bytes:
        try:
            piece = self._zlib.decompress(data, CHUNK_SIZE)
        except zlib.error as error:
            if self._gzip or self._began:
                raise BrokenEncoding("the compressed data is invalid") from error
            # Some servers send raw deflate data without the zlib header.
            self._zlib = zlib.decompressobj(-zlib.MAX_WBITS)
            self._began = True
            return self._inflate(data)
        self._began = self._began or bool(data)
        return piece

    def _next_member(self) -> bytes:
        rest = self._zlib.unused_data
        if not (self._gzip and rest.startswith(b"\x1f\x8b")):
            return b""
        self._zlib = zlib.decompressobj(_GZIP)
        return rest


class BodyDecoder:
    """Decodes a body chunk by chunk; raises BodyTooLarge beyond `limit` bytes and BrokenEncoding
    for invalid data."""

    def __init__(self, encoding: str, limit: int) -> None:
        names = [name.strip().lower() for name in encoding.split(",")]
        names = [name for name in names if name not in ("", "identity")]
        if len(names) > MAX_LAYERS or not {*names} <= {"gzip", "x-gzip", "deflate"}:
            raise BrokenEncoding("unsupported Content-Encoding")
        self._layers = [_Layer(name != "deflate", limit) for name in reversed(names)]
        self._left = limit

    def feed(self, data: bytes) -> Iterator[bytes]:
        for piece in self._through(data, self._layers):
            room, self._left = self._left, self._left - len(piece)
            yield piece[:room]
            if self._left < 0:
                raise BodyTooLarge

    def end(self) -> None:
        """Raise BrokenEncoding if the body is incomplete."""
        if not all(layer.ended() for layer in self._layers):
            raise BrokenEncoding("the compressed data is incomplete")

    def _through(self, data: bytes, layers: list[_Layer]) -> Iterator[bytes]:
        if not layers:
            yield data
            return
        for piece in layers[0].feed(data):
            yield from self._through(piece, layers[1:])
