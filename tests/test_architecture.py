"""The layout: who may import whom, what stays pure, and what ``vfa serve`` loads."""

from __future__ import annotations

import ast
import json
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parent.parent
MODULES = {
    ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): path
    for path in sorted((ROOT / "vfa").rglob("*.py"))
}

# Lowest first. A unit may import what stands in a lower row, and itself; never its own row.
LAYERS = (
    ("errors", "mailbox", "process", "log", "config"),
    ("supervisor",),
    ("cdp", "chromium", "policy", "image"),
    ("egress",),
    ("page",),
    ("audit", "flow", "reasoning"),
    ("report",),
    ("actors",),
    ("engine",),
    ("tools",),
    ("actors.front",),
    ("cli",),
    ("__main__", "vfa"),
)
# The foundation: plain modules beside each other rather than folders. These may lean on each
# other, as long as there is no circle.
FOUNDATION = set(LAYERS[0])

PURE = (
    "vfa.cdp.dialogue",
    "vfa.image.",
    "vfa.policy.url",
    "vfa.policy.address",
    "vfa.audit.rules.",
    "vfa.audit.findings",
    "vfa.audit.evidence",
    "vfa.page.records",
    "vfa.config",
    "vfa.errors",
)
NOT_FOR_SERVE = ("PIL", "jinja2", "rich", "psutil", "trio_websocket")


def unit(module: str) -> str:
    """Return the row entry that ``module`` belongs to: ``vfa.cdp.pipe`` is of ``cdp``."""
    inside = module.removeprefix("vfa.") if module != "vfa" else "vfa"
    if inside == "actors.front" or inside.startswith("actors.front."):
        return "actors.front"
    return inside.split(".")[0]


def row(name: str) -> int:
    return next(number for number, names in enumerate(LAYERS) if name in names)


def imports(module: str) -> Iterator[str]:
    """Give the modules of ours that ``module`` imports, wherever in the file it does."""
    for node in ast.walk(ast.parse(MODULES[module].read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{module}: imports are absolute"
            assert node.module is not None
            # The version is a constant of the package, which is loaded whoever imports what.
            for name in {alias.name for alias in node.names} - {"__version__"}:
                inner = f"{node.module}.{name}"
                yield inner if inner in MODULES else node.module


def allowed(importer: str, imported: str) -> bool:
    above, below = unit(importer), unit(imported)
    return above == below or row(below) < row(above) or {above, below} <= FOUNDATION


def test_every_module_has_its_place_in_the_layout() -> None:
    known = {name for names in LAYERS for name in names}
    assert {module for module in MODULES if unit(module) not in known} == set()


@pytest.mark.parametrize("module", MODULES)
def test_imports_go_down_the_layout_only(module: str) -> None:
    ours = [name for name in imports(module) if name.split(".")[0] == "vfa"]
    assert [name for name in ours if not allowed(module, name)] == []


def test_modules_of_the_foundation_do_not_import_in_circles() -> None:
    waiting = {name: set() for name in FOUNDATION}
    for name in FOUNDATION:
        waiting[name] = {unit(other) for other in imports(f"vfa.{name}")} & (
            FOUNDATION - {name}
        )
    while waiting:
        free = {name for name, needs in waiting.items() if not needs & waiting.keys()}
        assert free, f"a circle in {sorted(waiting)}"
        waiting = {name: needs for name, needs in waiting.items() if name not in free}


@pytest.mark.parametrize("module", [name for name in MODULES if f"{name}.".startswith(PURE)])
def test_what_is_pure_knows_no_event_loop(module: str) -> None:
    libraries = {name.split(".")[0] for name in imports(module)}
    assert libraries.isdisjoint({"trio", "anyio", "asyncio"})


@pytest.mark.parametrize("module", MODULES)
def test_every_module_says_what_it_is(module: str) -> None:
    tree = ast.parse(MODULES[module].read_text(encoding="utf-8"))
    assert ast.get_docstring(tree)


def test_serving_loads_nothing_that_only_other_commands_need() -> None:
    loaded = modules_after("import vfa.__main__, vfa.cli.serve, vfa.actors.front, vfa.engine")
    assert loaded & set(NOT_FOR_SERVE) == set()


def test_the_command_line_loads_a_command_only_when_it_is_called() -> None:
    loaded = modules_after("import vfa.cli.group, vfa.cli.version, vfa.cli.audit")
    assert loaded & {"rich", "trio", "mcp", "PIL", "psutil"} == set()


def modules_after(statement: str) -> set[str]:
    """Return the top-level names in ``sys.modules`` of a new Python after ``statement``."""
    program = f"{statement}\nimport json, sys; print(json.dumps(sorted(sys.modules)))"
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True
    )
    return {name.split(".")[0] for name in json.loads(done.stdout)}
