"""The extension as it is packed: what is in it, what it says of itself, and that its pieces agree with the language."""

from __future__ import annotations

import json
import re
import zipfile
from pathlib import Path
from typing import Any

import pytest

from mcpeval_dsl import __version__
from mcpeval_dsl.language_server import converting
from mcpeval_dsl.syntax.formatting import format_text
from tests.editors.places import INSTALL, PLACE, ROOT

VSIX = PLACE / "mcpe.vsix"
PACKED = ("package.json", "language-configuration.json", "snippets/mcpe.json", "syntaxes/mcpe.tmLanguage.json")
SOURCE = ROOT / "editors" / "vscode"


@pytest.fixture(scope="module")
def packed() -> dict[str, bytes]:
    assert VSIX.is_file(), f"no {VSIX.name}: {INSTALL}"
    with zipfile.ZipFile(VSIX) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def manifest(packed: dict[str, bytes]) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(packed["extension/package.json"])
    return found


def test_what_is_in_it(packed: dict[str, bytes]) -> None:
    assert set(packed) == {
        "[Content_Types].xml",
        "extension.vsixmanifest",
        "extension/LICENSE.txt",
        "extension/ThirdPartyLicences.txt",
        "extension/dist/extension.js",
        "extension/language-configuration.json",
        "extension/package.json",
        "extension/readme.md",
        "extension/snippets/mcpe.json",
        "extension/syntaxes/mcpe.tmLanguage.json",
    }
    assert sum(map(len, packed.values())) < 600_000


@pytest.mark.parametrize("name", PACKED)
def test_it_was_packed_from_what_is_here(name: str, packed: dict[str, bytes]) -> None:
    assert json.loads(packed[f"extension/{name}"]) == json.loads((SOURCE / name).read_text("utf-8"))


def test_what_it_says_of_itself(packed: dict[str, bytes]) -> None:
    found = manifest(packed)
    assert found["version"] == __version__ and found["license"] == "Apache-2.0"
    assert found["contributes"]["languages"][0]["id"] == "mcpe"
    assert found["contributes"]["languages"][0]["extensions"] == [".mcpe"]
    assert found["main"] == "./dist/extension.js" and found["activationEvents"] == ["onLanguage:mcpe"]
    assert found["capabilities"]["untrustedWorkspaces"]["restrictedConfigurations"] == ["mcpe.command"]
    for path in (found["contributes"]["grammars"][0]["path"], found["contributes"]["snippets"][0]["path"]):
        assert f"extension/{path.removeprefix('./')}" in packed


def test_the_client_is_bundled_with_its_licences(packed: dict[str, bytes]) -> None:
    code = packed["extension/dist/extension.js"].decode()
    asked = set(re.findall(r'require\("([^".][^"]*)"\)', code))
    node = {"child_process", "crypto", "fs", "net", "os", "path", "process", "url", "util"}
    assert "vscode" in asked and {name.removeprefix("node:") for name in asked} - {"vscode"} <= node
    assert converting.TERMINAL in code
    licences = packed["extension/ThirdPartyLicences.txt"].decode()
    for package in ("vscode-languageclient", "vscode-jsonrpc", "semver"):
        assert re.search(rf"{package} \d+\.\d+", licences), package


def snippets() -> dict[str, str]:
    """Bodies with each tab stop filled in as it stands."""
    found = json.loads((SOURCE / "snippets/mcpe.json").read_text("utf-8"))
    bodies = {name: "\n".join(entry["body"]) + "\n" for name, entry in found.items()}
    return {name: filled(body) for name, body in bodies.items()}


def filled(body: str) -> str:
    names = dict(re.findall(r"\$\{(\d+):([^}]*)\}", body))
    body = re.sub(r"\$\{(\d+):([^}]*)\}", lambda m: m[2], body)
    body = re.sub(r"\$\{?(\d+)\}?", lambda m: names.get(m[1], ""), body)
    return body.replace("$$", "$")


@pytest.mark.parametrize("name", snippets())
def test_snippets_are_specs_in_form(name: str) -> None:
    text = "\n".join(line.rstrip() for line in snippets()[name].splitlines()) + "\n"
    text = text.replace("{\n\n}", "{}")  # the cursor stands in an empty block
    assert format_text(text).value == text


def test_brackets_and_comments_are_the_languages(packed: dict[str, bytes]) -> None:
    found = json.loads(packed["extension/language-configuration.json"])
    assert found["comments"] == {"lineComment": "#"}
    increase = re.compile(found["indentationRules"]["increaseIndentPattern"])
    lines = {
        'task t "a {" {': True,
        "  may f(": True,
        '  prompt "a { b"': False,
        "  tags a # {": False,
        "  f(x) { # why": True,
    }
    assert {line: bool(increase.match(line)) for line in lines} == lines


def test_helix_knows_the_same_language() -> None:
    import tomllib

    found = tomllib.loads((ROOT / "editors/helix/languages.toml").read_text("utf-8"))
    (language,) = found["language"]
    assert language["file-types"] == ["mcpe"] and language["language-servers"] == ["mcpe"]
    server = found["language-server"]["mcpe"]
    assert [server["command"], *server["args"]] == ["mcpe", "lsp"]


def test_neovims_files_are_where_neovim_looks() -> None:
    folder = ROOT / "editors" / "neovim"
    found = {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}
    assert found == {"ftdetect/mcpe.vim", "ftplugin/mcpe.vim", "lua/mcpe.lua", "syntax/mcpe.vim"}


def test_the_licence_of_each_package_is_there_once(packed: dict[str, bytes]) -> None:
    licences = packed["extension/ThirdPartyLicences.txt"].decode()
    assert licences.count("Permission is hereby granted") + licences.count("Permission to use, copy") >= 2


def test_the_lock_of_packages_names_no_host() -> None:
    for path in (SOURCE / "package-lock.json", Path(__file__).with_name("package-lock.json")):
        assert "resolved" not in path.read_text("utf-8")
