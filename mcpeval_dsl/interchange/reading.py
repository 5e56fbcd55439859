"""Interchange: bytes of a foreign file -> text. Says what had to be decided: a BOM, another encoding, bytes that are none."""

from __future__ import annotations

import codecs
import errno
from dataclasses import dataclass, field
from pathlib import Path

from mcpeval_dsl.interchange.trees.node import Unreadable

MOST_BYTES = 16 * 1024 * 1024
_BOMS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)


@dataclass(slots=True)
class Text:
    """`path` as it is shown. Line breaks are `\\n`."""

    path: str
    text: str
    said: list[str] = field(default_factory=list)


def read(path: Path, shown: str, most: int = MOST_BYTES) -> Text:
    """The text of a file. Raises Unreadable: it is not there, no regular file, too large, or no text."""
    try:
        if path.is_dir():
            raise Unreadable("it is a folder")
        if not path.is_file():
            raise Unreadable("there is no such file" if not path.exists() else "it is no regular file")
        size = path.stat().st_size
        if size > most:
            raise Unreadable(f"it has {size / 1e6:,.0f} MB; more than {most / 1e6:,.0f} MB is not read")
        data = path.read_bytes()
    except OSError as error:
        raise Unreadable(
            f"it cannot be read ({error.strerror or errno.errorcode.get(error.errno or 0, '?')})"
        ) from None
    except ValueError:
        raise Unreadable("no file can have this name") from None
    return decode(data, shown)


def decode(data: bytes, shown: str) -> Text:
    """Bytes as text: by their BOM, as UTF-8, else as Latin-1 where that makes no control characters."""
    found = Text(shown, "")
    for bom, encoding in _BOMS:
        if data.startswith(bom):
            found.text = data[len(bom) :].decode(encoding, "replace")
            if encoding != "utf-8":
                found.said.append(f"the file is {encoding.upper()}; it was read so")
            break
    else:
        found.text = _without_bom(data, found)
    if "\x00" in found.text:
        if found.text.count("\x00") * 20 > len(found.text):
            raise Unreadable("it is no text: it is full of zero bytes")
        found.said.append("zero bytes in the file were left out")
        found.text = found.text.replace("\x00", "")
    found.text = found.text.replace("\r\n", "\n").replace("\r", "\n")
    return found


def _without_bom(data: bytes, found: Text) -> str:
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        if not any(byte < 32 and byte not in b"\t\n\r\x00" for byte in data[: 1 << 16]):
            found.said.append(f"the file is no UTF-8 (line {line}); it was read as Latin-1")
            return data.decode("cp1252", "replace")
        raise Unreadable("it is no text: neither UTF-8 nor Latin-1", line) from None
