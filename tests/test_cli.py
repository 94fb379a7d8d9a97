"""The command line, with an engine that is made up: no browser, no network."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from contextlib import asynccontextmanager
from types import SimpleNamespace

import msgspec
import pytest
import trio
from click.testing import CliRunner

from vfa.audit.findings import SEVERITIES, Finding, Report
from vfa.audit.request import AuditRequest, Progress, Viewport
from vfa.chromium.install import Machine
from vfa.cli.audit import Outcome, verdict, with_scheme
from vfa.cli.checks import Check
from vfa.cli.group import MODULES, commands
from vfa.cli.progress import printable
from vfa.config import Config, knobs
from vfa.errors import (
    BrowserNotFoundError,
    NavigationFailedError,
    RestartsExhaustedError,
    SsrfBlockedError,
)
from vfa.tools import offered_tools

PAGE = "https://shop.example/"


def report_of(url, *severities):
    findings = tuple(
        Finding(
            id=f"FND-{number:03}",
            severity=severity,
            category="functional",
            title="Button does nothing",
            description="A click had no effect.",
        )
        for number, severity in enumerate(severities, 1)
    )
    return Report(
        url=url,
        run_id="run-1",
        started_at="2026-01-02T03:04:05.000Z",
        duration_ms=1200,
        findings=findings,
        metrics={"pages_audited": 1},
    )


class FakeEngine:
    """Answers audits by URL; remembers what it was asked and how it was opened."""

    def __init__(self):
        self.answers = {}  # url: Report, exception, or a coroutine function
        self.asked: list[AuditRequest] = []
        self.config = None
        self.closed = False
        self.session = SimpleNamespace(navigate=self._navigate)
        self.navigated = 0

    @asynccontextmanager
    async def open(self, config=None):
        self.config = config
        async with trio.open_nursery():  # as the real one: errors leave in a group
            try:
                yield self
            finally:
                self.closed = True

    async def audit(self, request, *, progress):
        self.asked.append(request)
        progress(Progress("inspecting", 1, 2, request.url))
        answer = self.answers.get(request.url, report_of(request.url))
        if isinstance(answer, Exception):
            raise answer
        return answer if isinstance(answer, Report) else await answer()

    async def _navigate(self, url):
        self.navigated += 1


@pytest.fixture
def engine(monkeypatch):
    fake = FakeEngine()
    monkeypatch.setattr("vfa.engine.open_engine", fake.open)
    return fake


@pytest.fixture(autouse=True)
def _no_settings_from_outside(monkeypatch):
    for knob in knobs().values():
        monkeypatch.delenv(knob.variable, raising=False)


def vfa(*arguments, stdin=None):
    return CliRunner().invoke(commands, list(arguments), input=stdin, prog_name="vfa")


# --- help and usage -----------------------------------------------------------------------


def test_the_help_names_every_command():
    result = vfa("--help")
    assert result.exit_code == 0
    assert all(f"\n  {name} " in result.stdout for name in MODULES)


def test_without_arguments_there_is_help_rather_than_silence():
    assert "Commands:" in vfa().output


@pytest.mark.parametrize("words", [*([name] for name in MODULES), ["browser", "install"]])
def test_every_command_has_help_of_its_own(words):
    result = vfa(*words, "--help")
    assert result.exit_code == 0
    assert f"Usage: vfa {' '.join(words)}" in result.stdout
    assert "D301" not in result.stdout


@pytest.mark.parametrize(
    "words",
    [
        ["nonsense"],
        ["audit"],
        ["audit", PAGE, "--colour"],
        ["audit", PAGE, "--fail-on", "terrible"],
        ["audit", PAGE, "--viewport", "large"],
        ["audit", PAGE, "--viewport", "1440x9"],
        ["audit", PAGE, "--viewport", "99999x900"],
        ["audit", PAGE, "--depth", "-1"],
        ["audit", PAGE, "--max-pages", "0"],
        ["audit", PAGE, "--timeout", "0"],
        ["serve", "--port", "80"],
        ["browser", "install", "chrome"],
    ],
)
def test_a_command_line_that_is_wrong_ends_with_2_and_words_on_stderr(words, engine):
    result = vfa(*words)
    assert result.exit_code == 2
    assert result.stdout == ""
    assert "Error" in result.stderr
    assert engine.config is None


def test_serve_exits_with_the_fronts_code_and_hands_it_the_settings(monkeypatch):
    served = []

    def serve_stdio(config):
        served.append(config.queue_limit)
        return 7

    monkeypatch.setenv("QUEUE_LIMIT", "3")
    monkeypatch.setattr("vfa.actors.front.serve_stdio", serve_stdio)
    assert vfa("serve").exit_code == 7
    assert served == [3]


def test_serve_refuses_bad_settings_and_leaves_stdout_alone(monkeypatch):
    monkeypatch.setenv("QUEUE_LIMIT", "0")
    result = vfa("serve")
    assert (result.exit_code, result.stdout) == (2, "")
    assert "QUEUE_LIMIT" in result.stderr


def test_python_m_vfa_is_vfa():
    done = subprocess.run(
        [sys.executable, "-m", "vfa", "version"], capture_output=True, text=True, check=True
    )
    assert done.stdout.startswith("vfa ")


# --- audit: exit codes ----------------------------------------------------------------------


@pytest.mark.parametrize("fail_on", SEVERITIES)
@pytest.mark.parametrize("severity", SEVERITIES)
def test_the_exit_code_tells_whether_a_finding_is_severe_enough(engine, fail_on, severity):
    engine.answers[PAGE] = report_of(PAGE, severity)
    at_or_above = SEVERITIES.index(severity) <= SEVERITIES.index(fail_on)
    assert vfa("audit", PAGE, "--fail-on", fail_on).exit_code == (1 if at_or_above else 0)


def test_findings_alone_do_not_fail_without_a_threshold(engine):
    engine.answers[PAGE] = report_of(PAGE, "critical")
    assert vfa("audit", PAGE).exit_code == 0


def test_a_clean_site_ends_with_0(engine):
    assert vfa("audit", PAGE, "--fail-on", "info").exit_code == 0


def test_a_page_that_cannot_be_audited_ends_with_2_and_says_why_and_what_to_do(engine):
    engine.answers[PAGE] = NavigationFailedError("no answer", hint="Start the server.")
    result = vfa("audit", PAGE)
    assert result.exit_code == 2
    assert result.stdout == ""
    assert f"{PAGE}: [NAVIGATION_FAILED] no answer" in result.stderr
    assert "Start the server." in result.stderr


def test_one_page_that_fails_does_not_keep_the_others_from_being_audited(engine):
    engine.answers["https://a.example/"] = NavigationFailedError("no answer")
    engine.answers["https://b.example/"] = report_of("https://b.example/", "high")
    result = vfa("audit", "https://a.example/", "https://b.example/", "--fail-on", "high")
    assert result.exit_code == 2, "not audited outranks found"
    assert "Button does nothing" in result.stdout


def test_a_refused_address_of_ones_own_gets_the_option_that_allows_it(engine):
    engine.answers[PAGE] = SsrfBlockedError("a private address")
    assert "--allow-local" in vfa("audit", PAGE).stderr


def test_an_engine_that_gives_up_ends_with_2(engine, monkeypatch):
    @asynccontextmanager
    async def broken(config=None):
        async with trio.open_nursery():
            raise RestartsExhaustedError("the browser crashed too often")
            yield

    monkeypatch.setattr("vfa.engine.open_engine", broken)
    result = vfa("audit", PAGE)
    assert result.exit_code == 2
    assert "crashed too often" in result.stderr


def test_a_bug_is_not_mistaken_for_an_answer(engine):
    engine.answers[PAGE] = KeyError("bug")
    assert isinstance(vfa("audit", PAGE).exception, BaseExceptionGroup)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_audit_closes_the_engine_and_keeps_what_was_done(engine, number):
    async def interrupted():
        signal.raise_signal(number)
        await trio.sleep_forever()

    engine.answers[PAGE] = report_of(PAGE, "high")
    engine.answers["https://slow.example/"] = interrupted

    result = vfa("audit", PAGE, "https://slow.example/", "https://never.example/")

    assert result.exit_code == 128 + number
    assert engine.closed
    assert len(engine.asked) == 2
    assert "Button does nothing" in result.stdout


def test_the_verdict_of_nothing_audited_is_not_a_pass():
    assert verdict([Outcome(PAGE, error=NavigationFailedError("gone"))], None) == 2


# --- audit: what is asked, what is written ------------------------------------------------


def test_options_reach_the_engine(engine):
    options = (
        "--depth 3 --max-pages 4 --device mobile --viewport 390x844 --wait-until load "
        "--focus checkout --category visual --category network --timeout 20 --no-screenshots "
        "--allow-local"
    )
    assert vfa("audit", PAGE, *options.split()).exit_code == 0
    assert engine.asked == [
        AuditRequest(
            url=PAGE,
            viewport=Viewport(390, 844),
            device="mobile",
            wait_until="load",
            max_depth=3,
            max_pages=4,
            include_screenshots=False,
            focus="checkout",
            categories=("visual", "network"),
            timeout_ms=20_000,
        )
    ]
    assert engine.config.allow_local_host


def test_without_options_the_engine_is_asked_for_its_defaults(engine):
    vfa("audit", PAGE)
    assert engine.asked == [AuditRequest(url=PAGE)]
    assert not engine.config.allow_local_host


def test_a_timeout_above_the_cap_is_cut_and_that_is_said(engine, monkeypatch):
    monkeypatch.setenv("MAX_TIMEOUT_MS", "5000")
    result = vfa("audit", PAGE, "--timeout", "60")
    assert engine.asked[0].timeout_ms == 5000
    assert "MAX_TIMEOUT_MS" in result.stderr


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("example.com", "https://example.com"),
        ("example.com/a?b#c", "https://example.com/a?b#c"),
        ("localhost:3000", "http://localhost:3000"),
        ("127.0.0.1/x", "http://127.0.0.1/x"),
        ("http://example.com", "http://example.com"),
        ("file:///etc/passwd", "file:///etc/passwd"),
        ("mailto:a@b.c", "mailto:a@b.c"),
    ],
)
def test_a_bare_host_is_understood_and_everything_else_left_alone(typed, meant):
    assert with_scheme(typed) == meant


def test_json_on_stdout_is_all_there_is_on_stdout(engine):
    engine.answers[PAGE] = report_of(PAGE, "high", "low")
    result = vfa("audit", PAGE, "--json", "-")
    document = json.loads(result.stdout)
    assert document["url"] == PAGE
    assert [finding["severity"] for finding in document["findings"]] == ["high", "low"]


def test_json_of_several_pages_is_a_list_with_errors_in_their_places(engine):
    engine.answers["https://a.example/"] = NavigationFailedError("no answer", hint="Wait.")
    result = vfa("audit", "https://a.example/", PAGE, "--json", "-")
    failed, completed = json.loads(result.stdout)
    error = {"code": "NAVIGATION_FAILED", "message": "no answer", "hint": "Wait."}
    assert failed == {"status": "error", "url": "https://a.example/", "error": error}
    assert completed["status"] == "completed"
    assert result.exit_code == 2


def test_files_are_written_where_asked_in_folders_that_are_made(engine, tmp_path):
    page, data = tmp_path / "new" / "report.html", tmp_path / "new" / "report.json"
    result = vfa("audit", PAGE, "--html", str(page), "--json", str(data))
    assert result.exit_code == 0
    assert page.read_text("utf-8").lstrip().lower().startswith("<!doctype html>")
    assert json.loads(data.read_bytes())["url"] == PAGE
    assert str(page) in result.stderr


def test_html_of_several_pages_is_numbered_by_their_order(engine, tmp_path):
    engine.answers["https://a.example/"] = NavigationFailedError("no answer")
    page = tmp_path / "report.html"
    vfa("audit", "https://a.example/", PAGE, "https://b.example/", "--html", str(page))
    names = sorted(path.name for path in tmp_path.iterdir())
    assert names == ["report-2.html", "report-3.html"]


def test_a_file_that_cannot_be_written_ends_with_2(engine, tmp_path):
    (tmp_path / "file").touch()
    result = vfa("audit", PAGE, "--html", str(tmp_path / "file" / "report.html"))
    assert result.exit_code == 2
    assert "file" in result.stderr


def test_what_time_did_not_allow_is_said_even_when_nothing_was_found(engine):
    report = report_of(PAGE)
    engine.answers[PAGE] = msgspec.structs.replace(
        report, truncated=True, not_done=("3 pages were not visited",)
    )
    result = vfa("audit", PAGE, "--quiet")
    assert result.exit_code == 0
    assert "3 pages were not visited" in result.stderr


def test_quiet_prints_nothing_but_what_went_wrong(engine):
    engine.answers[PAGE] = report_of(PAGE, "high")
    result = vfa("audit", PAGE, "--quiet", "--fail-on", "high")
    assert (result.exit_code, result.output) == (1, "")


def test_progress_goes_to_stderr(engine):
    result = vfa("audit", PAGE)
    assert f"Auditing {PAGE}" in result.stderr
    assert "Auditing" not in result.stdout


def test_what_a_page_calls_itself_cannot_drive_the_terminal():
    assert printable("a\x1b[31mb\nc\u202ed") == "a?[31mb?c?d"
    assert printable("x" * 100, 10) == "x" * 9 + "…"


# --- config, version -------------------------------------------------------------------------


def test_config_shows_values_with_where_they_came_from(monkeypatch):
    monkeypatch.setenv("QUEUE_LIMIT", "3")
    result = vfa("config")
    assert result.exit_code == 0
    assert "QUEUE_LIMIT=3  [environment; default 8]" in result.stdout
    assert all(f"{knob.variable}=" in result.stdout for knob in knobs().values())
    assert [row for row in vfa("config", "--changed").stdout.splitlines() if "=" in row] == [
        "QUEUE_LIMIT=3  [environment; default 8]"
    ]


def test_config_as_json_has_a_row_for_every_setting(monkeypatch):
    monkeypatch.setenv("QUEUE_LIMIT", "3")
    rows = {row["variable"]: row for row in json.loads(vfa("config", "--json").stdout)}
    assert set(rows) == {knob.variable for knob in knobs().values()}
    row = rows["QUEUE_LIMIT"]
    assert (row["value"], row["default"], row["source"]) == (3, 8, "environment")


@pytest.mark.parametrize("words", [["config"], ["config", "--json"]])
def test_config_never_prints_a_secret(monkeypatch, words):
    secrets = [knob.variable for knob in knobs().values() if knob.secret]
    assert secrets
    for variable in secrets:
        monkeypatch.setenv(variable, "s3cr3t")
    output = vfa(*words).output
    assert "s3cr3t" not in output
    assert "not shown" in output


def test_config_with_a_bad_setting_says_what_it_is_for_and_ends_with_2(monkeypatch):
    monkeypatch.setenv("QUEUE_LIMIT", "many")
    result = vfa("config")
    assert result.exit_code == 2
    assert result.stdout == ""
    assert "QUEUE_LIMIT='many'" in result.stderr
    assert knobs()["queue_limit"].text in result.stderr


def test_version_names_the_libraries_that_matter():
    output = vfa("version").stdout
    assert output.startswith("vfa ")
    assert f"\ntrio {trio.__version__}\n" in output


# --- doctor ---------------------------------------------------------------------------------


@pytest.fixture
def healthy(monkeypatch, engine):
    """A machine with everything, on which nothing real is started."""
    found = SimpleNamespace(path="/usr/bin/chromium", kind="chromium")
    monkeypatch.setattr(
        "vfa.cli.checks.chromium", lambda config: (Check("Chromium", "ok", "here"), found)
    )

    async def handshake():
        return Check("MCP", "ok", "answers")

    monkeypatch.setattr("vfa.cli.trials.handshake", handshake)
    return engine


def test_the_doctor_finds_a_healthy_machine_well(healthy):
    result = vfa("doctor")
    assert result.exit_code == 0, result.output
    for name in ("Python", "Chromium", "Fonts", "Memory", "Shared memory", "Sandbox", "Launch"):
        assert f"{name}: " in result.stdout
    assert healthy.navigated == 2
    assert healthy.closed


def test_the_doctor_says_what_to_do_where_the_browser_does_not_start(healthy, monkeypatch):
    async def navigate(url):
        raise BrowserNotFoundError("it crashed", (), hint="Give it more memory.")

    healthy.session.navigate = navigate
    result = vfa("doctor")
    assert result.exit_code == 1
    assert "FAIL  Launch: it crashed" in result.stdout
    assert "Give it more memory." in result.stdout
    assert "Not working: Launch." in result.stdout


def test_the_doctor_without_a_browser_still_tries_the_server(engine, monkeypatch):
    calls = []

    async def handshake():
        calls.append("handshake")
        return Check("MCP", "ok", "answers")

    monkeypatch.setattr("vfa.cli.trials.handshake", handshake)
    monkeypatch.setenv("CHROMIUM_PATH", "/nowhere/chromium")
    result = vfa("doctor")
    assert result.exit_code == 1
    assert "/nowhere/chromium" in result.stdout
    assert "Launch" not in result.stdout
    assert calls == ["handshake"]


def test_the_doctor_in_a_hurry_starts_nothing(healthy):
    assert vfa("doctor", "--quick").exit_code == 0
    assert healthy.config is None


def test_the_doctor_speaks_json(healthy):
    checks = msgspec.json.decode(vfa("doctor", "--json").stdout, type=list[Check])
    assert [check.name for check in checks][-2:] == ["Launch", "MCP"]


def test_the_doctors_handshake_works_with_the_real_server():
    from vfa.cli.trials import handshake

    check = trio.run(handshake)
    assert check.state == "ok", check.text
    assert f"{len(offered_tools(Config().tools))} tools" in check.text


def test_the_doctors_handshake_notices_a_server_that_does_not_start(monkeypatch):
    from vfa.cli.trials import handshake

    monkeypatch.setenv("QUEUE_LIMIT", "many")
    check = trio.run(handshake)
    assert check.state == "fail"
    assert check.advice


# --- browser ---------------------------------------------------------------------------------


DEBIAN = Machine("linux", ("debian",), "12", root=True)


@pytest.fixture
def commands_run(monkeypatch):
    """A Debian without Chromium, on which commands are written down rather than run."""
    done = []

    def run(command, **options):
        done.append(" ".join(command))
        return SimpleNamespace(returncode=0)

    monkeypatch.setattr("vfa.cli.browser.subprocess.run", run)
    monkeypatch.setattr("vfa.cli.browser.machine", lambda: DEBIAN)
    monkeypatch.setattr("vfa.cli.browser._present", lambda: None)
    return done


def test_a_dry_run_shows_the_commands_and_runs_none(commands_run):
    result = vfa("browser", "install", "--dry-run")
    assert result.exit_code == 0
    assert "apt-get install" in result.stdout
    assert commands_run == []


def test_an_installation_asks_first_and_does_nothing_where_nobody_answers(commands_run):
    result = vfa("browser", "install")
    assert result.exit_code == 2
    assert "--yes" in result.stderr
    assert commands_run == []


def test_yes_runs_the_plan_in_order_and_checks_that_it_helped(commands_run):
    result = vfa("browser", "install", "--yes")
    assert ["update" in line for line in commands_run] == [True, False]
    assert result.exit_code == 2, "nothing was really installed, and that is noticed"
    assert "no Chromium" in result.stderr


def test_a_command_that_fails_ends_the_installation(commands_run, monkeypatch):
    def run(command, **options):
        commands_run.append(command)
        return SimpleNamespace(returncode=100)

    monkeypatch.setattr("vfa.cli.browser.subprocess.run", run)
    result = vfa("browser", "install", "--yes")
    assert result.exit_code == 2
    assert len(commands_run) == 1
    assert "exit code 100" in result.stderr


def test_an_installation_with_a_browser_at_hand_does_nothing(commands_run, monkeypatch):
    found = SimpleNamespace(path="/usr/lib/chromium/chromium-headless-shell")
    monkeypatch.setattr("vfa.cli.browser._present", lambda: found)
    result = vfa("browser", "install", "--yes")
    assert (result.exit_code, commands_run) == (0, [])
    assert found.path in result.stdout


def test_a_system_without_a_plan_gets_a_hint(commands_run, monkeypatch):
    monkeypatch.setattr("vfa.cli.browser.machine", lambda: Machine("sunos5"))
    result = vfa("browser", "install", "--yes")
    assert result.exit_code == 2
    assert "CHROMIUM_PATH" in result.stderr
