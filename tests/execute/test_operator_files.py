"""Files of the operator that are not what they should be: told in a sentence, never an internal error."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from mcpeval_dsl.execute.settings import LOCAL_FILE, load
from mcpeval_dsl.execute.trust import TrustFile

LOCAL = [
    b"\xff",
    b"providers = 3",
    b"[providers]\nanthropic = 3",
    b'[providers.anthropic]\ntimeout = "soon"',
    b"[providers.anthropic]\ntimeout = nan",
    b"[providers.anthropic]\npatience = -1",
    b"[providers.anthropic]\nbase_url = 3",
    b"[providers.anthropic]\nkey = 'sk-1'",
    b"a = [",
    b"a = " + b"9" * 5000,
]


@pytest.mark.parametrize("data", LOCAL)
def test_settings(tmp_path: Path, data: bytes) -> None:
    (tmp_path / LOCAL_FILE).write_bytes(data)
    with pytest.raises(ValueError, match=LOCAL_FILE):
        load(tmp_path)


def test_settings_that_are_a_folder(tmp_path: Path) -> None:
    (tmp_path / LOCAL_FILE).mkdir()
    with pytest.raises(ValueError, match="directory"):
        load(tmp_path)


@pytest.mark.parametrize("data", [b"", b"\xff", b"[]", b"[" * 100_000, b'{"format": "mcpe-trust/1", "trusted": 3}'])
def test_what_is_no_trust_file_is_neither_believed_nor_written_over(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "trust.json"
    path.write_bytes(data)
    with pytest.raises(ValueError, match=r"trust\.json"):
        TrustFile(path).digests()
    with pytest.raises(ValueError, match=r"trust\.json"):
        TrustFile(path).add([])
    assert path.read_bytes() == data


def test_a_trust_file_that_is_a_pipe(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "trust.json")
    with pytest.raises(ValueError, match="no regular file"):
        TrustFile(tmp_path / "trust.json").digests()
