"""Fixtures for tests that drive a real Chromium."""

from __future__ import annotations

import os
from contextlib import suppress

import pytest

from tests.site import serve_site
from vfa.config import load
from vfa.errors import BrowserNotFoundError

# What foreign pages ask of the world outside fails here and now, whatever the machine.
NO_OUTSIDE = '"--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1 , EXCLUDE localhost"'


def has_chromium() -> bool:
    from vfa.chromium.find import find_chromium

    with suppress(BrowserNotFoundError):
        find_chromium(os.environ.get("CHROMIUM_PATH", ""))
        return True
    return False


def pytest_collection_modifyitems(items):
    if has_chromium():
        return
    skip = pytest.mark.skip(reason="no Chromium here: `vfa browser install` gets one")
    for item in items:
        if "browser" in item.keywords:
            item.add_marker(skip)


@pytest.fixture
def site():
    with serve_site() as site:
        yield site


@pytest.fixture
def environment(tmp_path):
    """The variables of an engine whose every file lies below the test's own folder."""
    return {
        "CHROMIUM_PATH": os.environ.get("CHROMIUM_PATH", ""),
        "OUTPUT_DIR": str(tmp_path / "output"),
        "VFA_PROFILE_ROOT": str(tmp_path),
        "VFA_CHROMIUM_ARGS": NO_OUTSIDE,
        "VFA_HOSTS": "*=-",
        "VFA_ALLOW_LOCAL_HOST": "true",
    }


@pytest.fixture
def config(environment):
    return load(environment)


@pytest.fixture
def profiles(tmp_path):
    """What browser profiles are left below the test's folder."""

    def left():
        return sorted(tmp_path.glob("vfa-profile-*"))

    return left
