"""All rules, one a module, in a package for each category.

A new rule is a new file that has a constant ``RULE``: nothing else lists it.
"""

from __future__ import annotations

import functools
import importlib
import pkgutil
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from vfa.audit.rule import Rule


@functools.cache
def all_rules() -> tuple[Rule, ...]:
    """Return every rule, sorted by id. Imports the rule modules on first use."""
    names = [
        module.name
        for module in pkgutil.walk_packages(__path__, prefix=f"{__name__}.")
        if not module.ispkg and not module.name.rpartition(".")[2].startswith("_")
    ]
    rules: list[Rule] = [importlib.import_module(name).RULE for name in names]
    return tuple(sorted(rules, key=lambda rule: rule.id))
