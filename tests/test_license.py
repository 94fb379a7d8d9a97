"""The licence gate: closed for what is not right, and open without anyone's asking for it."""

from __future__ import annotations

import base64
import json
import os
import re
import subprocess
import sys
import time
from datetime import UTC, datetime, timedelta

import jwt
import pytest
from click.testing import CliRunner
from cryptography.hazmat.primitives import serialization as form
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from vfa.cli.group import commands
from vfa.config import load
from vfa.engine import open_engine
from vfa.errors import ConfigError, LicenseError
from vfa.policy.gate import Gate
from vfa.policy.license import check_licence, read_public_key
from vfa.policy.seats import (
    LAPSES_AFTER,
    Seats,
    give_back,
    installation_id,
    list_seats,
    take_seat,
)

KEY, STRANGER = Ed25519PrivateKey.generate(), Ed25519PrivateKey.generate()
RAW = KEY.public_key().public_bytes(form.Encoding.Raw, form.PublicFormat.Raw)
PEM = KEY.public_key().public_bytes(form.Encoding.PEM, form.PublicFormat.SubjectPublicKeyInfo)
PUBLIC = base64.b64encode(RAW).decode()


def token(key=KEY, **claims):
    now = datetime.now(UTC)
    base = {"sub": "Example Ltd", "exp": now + timedelta(days=1), "seats": 3, "features": []}
    given = {name: value for name, value in {**base, **claims}.items() if value is not None}
    return jwt.encode(given, key, algorithm="EdDSA")


def licence(**claims):
    return check_licence(token(**claims), KEY.public_key())


def ago(**time_span):
    return datetime.now(UTC) - timedelta(**time_span)


def test_a_good_licence_says_what_it_grants():
    granted = licence(features=["audit"])
    assert (granted.subject, granted.seats, granted.features) == ("Example Ltd", 3, ("audit",))
    granted.check_feature("audit")
    with pytest.raises(LicenseError, match="covers audit, not flow"):
        granted.check_feature("flow")


@pytest.mark.parametrize(
    ("made", "reason"),
    [
        (lambda: "", "there is no licence"),
        (lambda: "abc.def", "malformed"),
        (lambda: token() + "x", "signature|malformed"),
        (lambda: token(key=STRANGER), "wrong signature"),
        (lambda: token(exp=ago(seconds=90)), "expired"),
        (lambda: token(nbf=datetime.now(UTC) + timedelta(seconds=120)), "not valid yet"),
        (lambda: token(exp=None), "malformed"),
        (lambda: token(sub=None), "malformed"),
        (lambda: token(seats=-1), "seats"),
        (lambda: token(seats="many"), "seats"),
        (lambda: token(features="audit"), "features"),
        (
            lambda: jwt.encode({"sub": "a", "exp": 9e9}, "k" * 32, algorithm="HS256"),
            "malformed",
        ),
        (lambda: jwt.encode({"sub": "a", "exp": 9e9}, None, algorithm="none"), "malformed"),
    ],
)
def test_every_reason_for_a_refusal_is_told_apart(made, reason):
    with pytest.raises(LicenseError, match=reason) as caught:
        check_licence(made(), KEY.public_key())
    assert caught.value.code == "LICENSE_INVALID"


def test_clocks_may_differ_by_a_minute():
    assert licence(exp=ago(seconds=50)).subject
    assert licence(nbf=datetime.now(UTC) + timedelta(seconds=50)).subject


@pytest.mark.parametrize("text", [PUBLIC, PEM.decode(), PEM.decode().replace("\n", "\\n")])
def test_the_public_key_is_read_from_pem_and_from_base64(text):
    assert check_licence(token(), read_public_key(text)).subject == "Example Ltd"


@pytest.mark.parametrize("text", ["nonsense", PUBLIC[:-8], "-----BEGIN PUBLIC KEY-----\nabc"])
def test_what_is_no_public_key_is_refused(text):
    with pytest.raises(ConfigError, match="VFA_LICENSE_PUBLIC_KEY"):
        read_public_key(text)


# --- seats --------------------------------------------------------------------------------


def test_an_installation_keeps_its_seat_and_the_one_too_many_gets_none(tmp_path):
    registry, granted = tmp_path / "deep" / "seats.json", licence(seats=2)
    assert take_seat(registry, granted, "a") == 1
    assert take_seat(registry, granted, "b") == 2
    assert take_seat(registry, granted, "a") == 2
    with pytest.raises(LicenseError, match="too many seats"):
        take_seat(registry, granted, "c")
    assert give_back(registry, granted.digest, "a")
    assert take_seat(registry, granted, "c") == 2
    assert set(list_seats(registry, granted.digest)) == {"b", "c"}


def test_a_seat_that_was_not_used_for_a_month_lapses(tmp_path):
    registry, granted = tmp_path / "seats.json", licence(seats=1)
    take_seat(registry, granted, "old")
    data = json.loads(registry.read_text())
    data["seats"][granted.digest]["old"] = time.time() - LAPSES_AFTER - 1
    registry.write_text(json.dumps(data))

    assert take_seat(registry, granted, "new") == 1


def test_a_registry_that_cannot_be_read_hands_out_nothing(tmp_path):
    registry = tmp_path / "seats.json"
    registry.write_text("{broken")
    with pytest.raises(LicenseError, match="registry"):
        take_seat(registry, licence(), "a")
    assert registry.read_text() == "{broken"


def test_a_registry_in_a_place_that_cannot_be_written_is_a_refusal(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(LicenseError, match="cannot be used"):
        take_seat(tmp_path / "file" / "seats.json", licence(), "a")


def test_the_id_of_an_installation_is_made_once_and_private(tmp_path):
    first = installation_id(tmp_path / "state")
    assert installation_id(tmp_path / "state") == first
    assert re.fullmatch("[0-9a-f]{32}", first)
    assert (tmp_path / "state" / "installation").stat().st_mode & 0o077 == 0


SEAT = """
import sys
from vfa.config import load
from vfa.policy.gate import Gate
from vfa.errors import LicenseError
try:
    Gate(load())._check("audit")
    print("in")
except LicenseError as error:
    print("out" if "too many seats" in error.message else error)
"""


def test_twenty_processes_at_once_share_three_seats(tmp_path):
    environment = {
        **os.environ,
        "VFA_LICENSE_PUBLIC_KEY": PUBLIC,
        "VFA_LICENSE_KEY": token(seats=3),
        "VFA_LICENSE_REGISTRY": str(tmp_path / "seats.json"),
    }
    running = [
        subprocess.Popen(
            [sys.executable, "-c", SEAT],
            env=environment | {"XDG_STATE_HOME": str(tmp_path / f"home{number}")},
            stdout=subprocess.PIPE,
            text=True,
        )
        for number in range(20)
    ]
    said = [process.communicate(timeout=60)[0].strip() for process in running]

    assert said.count("in") == 3
    assert said.count("out") == 17
    assert (
        len(
            next(
                iter(Seats(**json.loads((tmp_path / "seats.json").read_text())).seats.values())
            )
        )
        == 3
    )


# --- the gate -----------------------------------------------------------------------------


def settings(tmp_path, **more):
    return load(
        {
            "VFA_LICENSE_PUBLIC_KEY": PUBLIC,
            "VFA_LICENSE_REGISTRY": str(tmp_path / "seats.json"),
            **more,
        }
    )


@pytest.fixture(autouse=True)
def own_state(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))


async def test_without_a_public_key_nothing_is_asked_for_or_written(tmp_path):
    await Gate(load({"VFA_LICENSE_KEY": "whatever"})).check("audit")
    assert list(tmp_path.iterdir()) == []


async def test_with_a_public_key_a_licence_is_needed(tmp_path):
    with pytest.raises(LicenseError, match="there is no licence"):
        await Gate(settings(tmp_path)).check("audit")
    gate = Gate(settings(tmp_path, VFA_LICENSE_KEY=token()))
    await gate.check("audit")
    await gate.check("flow")
    assert (tmp_path / "seats.json").exists()


async def test_a_licence_that_runs_out_closes_a_gate_that_was_open(tmp_path, monkeypatch):
    gate = Gate(settings(tmp_path, VFA_LICENSE_KEY=token()))
    await gate.check("audit")
    gate._config = settings(tmp_path, VFA_LICENSE_KEY=token(exp=ago(days=1)))
    with pytest.raises(LicenseError, match="expired"):
        await gate.check("audit")


async def test_an_audit_asks_at_the_gate_before_any_browser_starts(tmp_path):
    async with open_engine(settings(tmp_path)) as engine:
        with pytest.raises(LicenseError, match="there is no licence"):
            await engine.audit("https://example.com/")


# --- the commands -------------------------------------------------------------------------


def run(*arguments, **environment):
    return CliRunner().invoke(commands, ["license", *arguments], env=environment)


def test_an_operator_makes_a_key_issues_a_licence_and_a_customer_checks_it(tmp_path):
    file = tmp_path / "key.pem"
    public = run("keygen", str(file)).output.strip()
    assert file.stat().st_mode & 0o077 == 0
    assert "PRIVATE" not in public
    issued = run(
        "issue", "--key", str(file), "--to", "Me", "--seats", "2", "--feature", "audit"
    ).output.strip()
    environment = {
        "VFA_LICENSE_PUBLIC_KEY": public,
        "VFA_LICENSE_KEY": issued,
        "VFA_LICENSE_REGISTRY": str(tmp_path / "seats.json"),
    }
    verified = run("verify", **environment)
    assert verified.exit_code == 0
    assert "Valid for Me" in verified.output
    assert issued not in verified.output

    take_seat(tmp_path / "seats.json", check_licence(issued, read_public_key(public)), "abc")
    assert "abc" in run("seats", **environment).output
    assert "1 of 2 seats" in run("seats", **environment).output
    assert run("seats", "--give-back", "abc", **environment).exit_code == 0
    assert run("seats", "--give-back", "abc", **environment).exit_code == 2


def test_a_key_is_never_written_over(tmp_path):
    file = tmp_path / "key.pem"
    file.write_text("mine")
    assert run("keygen", str(file)).exit_code == 2
    assert file.read_text() == "mine"


def test_a_refusal_is_said_with_its_reason_and_never_with_the_licence(tmp_path):
    refused = token(exp=ago(days=2))
    result = run("verify", VFA_LICENSE_PUBLIC_KEY=PUBLIC, VFA_LICENSE_KEY=refused)
    assert result.exit_code == 2
    assert "expired" in result.output
    assert refused not in result.output


def test_without_a_public_key_no_licence_is_needed():
    assert "No licence is needed" in run("verify", VFA_LICENSE_PUBLIC_KEY="").output


def test_what_is_no_private_key_issues_nothing(tmp_path):
    (tmp_path / "k").write_text("no key")
    assert run("issue", "--key", str(tmp_path / "k"), "--to", "Me").exit_code == 2
