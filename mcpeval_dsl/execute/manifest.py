"""What a run is made with, as digests: two runs with the same manifest may be continued as one."""

from __future__ import annotations

import hashlib
import os
import platform
import shutil
import subprocess
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from mcpeval_dsl import __version__
from mcpeval_dsl.execute.confinement import sandbox_of
from mcpeval_dsl.execute.environ import search_path
from mcpeval_dsl.execute.preparing import commit_at
from mcpeval_dsl.execute.settings import RunSettings
from mcpeval_dsl.execute.steps import beside_spec
from mcpeval_dsl.plan.model import Plan
from mcpeval_dsl.records.model import Manifest
from mcpeval_dsl.semantics.expressions import Literal
from mcpeval_dsl.semantics.model import Server
from mcpeval_dsl.values.regular import regular_bytes

PACKAGES = ("mcp", "pydantic", "jsonschema", "jsonpath-rfc9535", "google-re2", "jinja2")
PER_DRIVER = {"anthropic": ("anthropic",), "litellm": ("litellm",)}
SCRIPT_SUFFIXES = (".py", ".js", ".mjs", ".cjs", ".ts", ".sh", ".rb")
PACKED_SUFFIXES = (".jar", ".pyz", ".whl", ".wasm", ".phar", ".dll")
SETTINGS_SUFFIXES = (".json", ".toml", ".yaml", ".yml", ".ini", ".cfg", ".conf", ".env")


def manifest_of(plan: Plan, plan_bytes: bytes, run: str, spec_folder: Path, settings: RunSettings) -> Manifest:
    """Digests of the plan, its files and the servers' artefacts as they are on this machine now."""
    drivers = {model.driver for model in plan.models if any(cell.model == model.name for cell in plan.cells)}
    packages = {*PACKAGES, *(name for driver in drivers for name in PER_DRIVER.get(driver, ()))}
    return Manifest(
        run=run,
        plan_key=plan.key,
        plan_sha256=hashlib.sha256(plan_bytes).hexdigest(),
        harness_version=__version__,
        python=platform.python_version(),
        packages={name: _version(name) for name in sorted(packages)},
        servers={server.name: artefact_of(server, spec_folder) for server in plan.servers},
        files={entry.path: entry.sha256 for entry in (*plan.files, *plan.fixtures)},
        settings={"allow_writes": settings.allow_writes},
        arms=_arms(plan, spec_folder),
        sandbox=sandbox_of(settings).label,
        environment={"platform": platform.platform(), "machine": platform.machine()},
    )


def _arms(plan: Plan, spec_folder: Path) -> dict[str, dict[str, str]]:
    """What agents have besides the servers, arm by arm, as it is on this machine."""
    found: dict[str, dict[str, str]] = {}
    for arm in plan.arms:
        own = {name: digest_of(program_at(name, spec_folder)) for name in arm.shell}
        if arm.api is not None:
            own["http_request"] = str(arm.api.url.value) if isinstance(arm.api.url, Literal) else "named by the spec"
        if own:
            found[arm.name] = own
    return found


def program_at(name: str, spec_folder: Path) -> str | None:
    """Where a program of an arm is on this machine: beside the spec, or on the path."""
    return shutil.which(beside_spec(name, spec_folder, program=True), path=search_path())


def digest_of(program: str | None) -> str:
    if program is None:
        return "absent"
    try:
        return hashlib.sha256(regular_bytes(Path(program))).hexdigest()
    except OSError:
        return "unreadable"


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "absent"


def artefact_of(server: Server, spec_folder: Path) -> str:
    """Digest of what is started: the program, its scripts (with those beside them) and settings; else the version.

    Other files on its command line (a log, a database) are what it writes: they differ after every run that is interrupted.
    """
    if server.url is not None:
        return server.version or "remote"
    digest = hashlib.sha256((commit_at(server, spec_folder) or "").encode())
    for path in sorted(set(_artefacts(server, spec_folder))):
        digest.update(path.name.encode())
        try:
            digest.update(regular_bytes(path))
        except OSError:
            digest.update(b"unreadable")
    return digest.hexdigest()


def _artefacts(server: Server, spec_folder: Path) -> Iterator[Path]:
    for index, word in enumerate(server.argv):
        text = word.value if isinstance(word, Literal) else None
        if not isinstance(text, str):
            continue
        found = beside_spec(text, spec_folder, program=index == 0)
        if index == 0:
            found = shutil.which(found, path=search_path()) or found
        path = Path(found)
        if not path.is_absolute() or not path.is_file():
            continue
        real = path.resolve()
        if index == 0 or _is_artefact(real):
            yield real
        if real.suffix in SCRIPT_SUFFIXES:
            yield from (sibling for sibling in real.parent.glob(f"*{real.suffix}") if sibling.is_file())


def _is_artefact(path: Path) -> bool:
    return path.suffix in (*SCRIPT_SUFFIXES, *PACKED_SUFFIXES, *SETTINGS_SUFFIXES) or os.access(path, os.X_OK)


def commit_of(server: Server, spec_folder: Path) -> str | None:
    """The commit that is checked out for the server, or of the repository that its scripts lie in, beside the spec."""
    if (checked_out := commit_at(server, spec_folder)) is not None:
        return checked_out
    for path in _artefacts(server, spec_folder):
        if spec_folder in path.parents:
            return repository_commit(path.parent)
    return None


def repository_commit(folder: Path) -> str | None:
    """The commit of the repository that holds the specs, with `+changes` where files differ from it."""
    git = shutil.which("git")
    if git is None:
        return None
    try:
        head = subprocess.run([git, "rev-parse", "HEAD"], cwd=folder, capture_output=True, text=True, timeout=10)
        if head.returncode != 0:
            return None
        status = subprocess.run(
            [git, "status", "--porcelain", "--untracked-files=no"],
            cwd=folder,
            capture_output=True,
            text=True,
            timeout=10,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return head.stdout.strip() + ("+changes" if status.stdout.strip() else "")
