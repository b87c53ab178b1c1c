"""Uploaded logos: PNG and JPEG, checked and rewritten so that only the picture remains.

A PNG is decompressed and compressed again. A JPEG keeps only the segments that a decoder needs. Metadata,
comments and anything before, between or after them are dropped, so a file that is also a web page or
an archive is not one any more. SVG is refused, because it can hold scripts.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from jobmill.errors import Invalid
from jobmill.sandbox import ReaderStopped, read_untrusted

MAX_BYTES = 1_000_000
MAX_SIDE = 2_000
"""Pixels."""
PNG_START, JPEG_START = b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff"
SAMPLES = {0: 1, 2: 3, 3: 1, 4: 2, 6: 4}
"""Samples per pixel of each color type of PNG."""
BIT_DEPTHS = {0: (1, 2, 4, 8, 16), 2: (8, 16), 3: (1, 2, 4, 8), 4: (8, 16), 6: (8, 16)}
JPEG_FRAMES = {0xC0, 0xC1, 0xC2}
"""Baseline, extended and progressive frames, the only ones that browsers show."""
JPEG_TABLES = {0xDB, 0xC4, 0xDD}
"""Quantization tables, Huffman tables, restart interval."""
ADOBE = b"Adobe"
"""A segment of metadata that says how colors are stored: it is kept."""
START_OF_SCAN, END_OF_IMAGE = 0xDA, 0xD9


@dataclass(frozen=True, slots=True)
class LogoImage:
    media_type: Literal["image/png", "image/jpeg"]
    data: bytes


async def read_logo_upload(data: bytes) -> LogoImage:
    """Check an uploaded logo in a child process; raises Invalid with what to do."""
    if len(data) > MAX_BYTES:
        raise Invalid("The logo is larger than 1 MB. Upload a smaller file.")
    try:
        return await read_untrusted(clean_logo, data)
    except ReaderStopped as error:
        raise Invalid(f"The logo could not be read: {error} Upload a PNG or JPEG file.") from error


def clean_logo(data: bytes) -> LogoImage:
    """The same picture without anything else."""
    try:
        if data.startswith(PNG_START):
            return LogoImage("image/png", _clean_png(data))
        if data.startswith(JPEG_START):
            return LogoImage("image/jpeg", _clean_jpeg(data))
    except (struct.error, zlib.error, IndexError, ValueError) as error:
        raise Invalid("The logo is damaged. Save it again as PNG or JPEG.") from error
    raise Invalid("The logo should be a PNG or JPEG file.")


def _check_size(width: int, height: int) -> None:
    if not (0 < width <= MAX_SIDE and 0 < height <= MAX_SIDE):
        raise Invalid(f"The logo should have up to {MAX_SIDE:,} by {MAX_SIDE:,} pixels.")


def _clean_png(data: bytes) -> bytes:
    chunks = list(_png_chunks(data))
    if chunks[0][0] != b"IHDR" or chunks[-1][0] != b"IEND":
        raise Invalid("The logo is damaged. Save it again as PNG or JPEG.")
    header = chunks[0][1]
    width, height, depth, color_type, _, _, interlace = struct.unpack(">IIBBBBB", header)
    _check_size(width, height)
    if depth not in BIT_DEPTHS.get(color_type, ()) or interlace not in (0, 1):
        raise Invalid("The logo uses an unknown kind of PNG. Save it again.")
    compressed = b"".join(content for kind, content in chunks if kind == b"IDAT")
    pixels = _inflate(compressed, _png_bytes(width, height, depth * SAMPLES[color_type], interlace))
    kept = [(b"IHDR", header)]
    kept += [chunk for chunk in chunks if chunk[0] in (b"PLTE", b"tRNS") and len(chunk[1]) <= 768]
    kept += [(b"IDAT", zlib.compress(pixels, 9)), (b"IEND", b"")]
    return PNG_START + b"".join(_png_chunk(*chunk) for chunk in kept)


def _png_chunks(data: bytes) -> Iterator[tuple[bytes, bytes]]:
    """The chunks up to the end of the image; bytes behind it are dropped."""
    position = len(PNG_START)
    while True:
        length, kind = struct.unpack_from(">I4s", data, position)
        content = data[position + 8 : position + 8 + length]
        (checksum,) = struct.unpack_from(">I", data, position + 8 + length)
        if checksum != zlib.crc32(kind + content):
            raise Invalid("The logo is damaged. Save it again as PNG or JPEG.")
        yield kind, content
        if kind == b"IEND":
            return
        position += 12 + length


def _png_chunk(kind: bytes, content: bytes) -> bytes:
    checksum = zlib.crc32(kind + content)
    return struct.pack(">I4s", len(content), kind) + content + struct.pack(">I", checksum)


def _png_bytes(width: int, height: int, bits: int, interlace: int) -> int:
    """The size of the decompressed image: each row begins with one byte for its filter."""
    if not interlace:
        return height * (1 + (width * bits + 7) // 8)
    passes = ((0, 0, 8, 8), (4, 0, 8, 8), (0, 4, 4, 8), (2, 0, 4, 4), (0, 2, 2, 4), (1, 0, 2, 2), (0, 1, 1, 2))  # fmt: skip
    total = 0
    for left, top, across, down in passes:
        columns, rows = -((left - width) // across), -((top - height) // down)
        total += rows * (1 + (columns * bits + 7) // 8) if columns > 0 and rows > 0 else 0
    return total


def _inflate(compressed: bytes, size: int) -> bytes:
    """Decompress to exactly this size; more would be a decompression bomb."""
    pixels = zlib.decompressobj().decompress(compressed, size + 1)
    if len(pixels) != size:
        raise Invalid("The logo is damaged. Save it again as PNG or JPEG.")
    return pixels


def _clean_jpeg(data: bytes) -> bytes:
    kept, position, has_frame = [data[:2]], 2, False
    while True:
        marker, end = _jpeg_marker(data, position)
        if marker == END_OF_IMAGE:
            break
        content = data[position + 4 : end]
        if marker in JPEG_FRAMES:
            height, width = struct.unpack_from(">HH", content, 1)
            _check_size(width, height)
            has_frame = True
        if marker == START_OF_SCAN:
            end = _scan_end(data, end)
        if _is_kept(marker, content):
            kept.append(data[position:end])
        position = end
    if not has_frame:
        raise Invalid("The logo is damaged. Save it again as PNG or JPEG.")
    return b"".join([*kept, bytes([0xFF, END_OF_IMAGE])])


def _is_kept(marker: int, content: bytes) -> bool:
    is_color_info = marker == 0xEE and content.startswith(ADOBE)
    return marker in JPEG_FRAMES | JPEG_TABLES or marker == START_OF_SCAN or is_color_info


def _jpeg_marker(data: bytes, position: int) -> tuple[int, int]:
    """The marker at this place and where its segment ends."""
    start, marker = struct.unpack_from(">BB", data, position)
    if start != 0xFF:
        raise Invalid("The logo is damaged. Save it again as PNG or JPEG.")
    if marker == END_OF_IMAGE:
        return marker, position + 2
    (length,) = struct.unpack_from(">H", data, position + 2)
    if length < 2:
        raise Invalid("The logo is damaged. Save it again as PNG or JPEG.")
    return marker, position + 2 + length


def _scan_end(data: bytes, position: int) -> int:
    """Where compressed image data ends: at the next marker that is neither escaped nor a restart."""
    while True:
        position = data.index(b"\xff", position)
        following = data[position + 1]
        if following != 0 and not 0xD0 <= following <= 0xD7:
            return position
        position += 2
