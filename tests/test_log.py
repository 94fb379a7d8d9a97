"""Logging never stops the engine, and never says what it was not told to."""

from __future__ import annotations

import logging
import os
import subprocess
import sys
from contextlib import contextmanager

import pytest
import trio

from vfa import log

STUCK = """
import logging
from vfa import log
with log.to_stderr("INFO"):
    for number in range(20_000):
        logging.info("%d %s", number, "x" * 200)
    print("logged", flush=True)
print("left", flush=True)
"""


@contextmanager
def captured(capfd, level="INFO"):
    """Collect the lines that reach stderr by the end of the block."""
    lines: list[str] = []
    with log.to_stderr(level):
        yield lines
    lines += capfd.readouterr().err.splitlines()


def test_records_of_the_level_and_above_reach_stderr(capfd):
    with captured(capfd) as lines:
        logging.debug("too quiet")
        logging.info("a page opened")
        logging.warning("it is slow")
    assert [line.rpartition("] ")[2] for line in lines] == ["a page opened", "it is slow"]


async def test_a_line_names_the_task_that_said_it(capfd):
    async def say() -> None:
        await trio.lowlevel.checkpoint()
        logging.info("hello")

    with captured(capfd) as lines:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(say, name="screenshot encoder")
    assert "[screenshot encoder] hello" in lines[0]


def test_a_line_from_outside_of_trio_names_no_task(capfd):
    with captured(capfd) as lines:
        logging.info("hello")
    assert "[-] hello" in lines[0]


def test_a_traceback_is_part_of_the_record(capfd):
    with captured(capfd) as lines:
        try:
            {}["broken"]
        except KeyError:
            logging.exception("an actor crashed")
    assert "an actor crashed" in lines[0]
    assert any("KeyError: 'broken'" in line for line in lines)


@pytest.mark.parametrize(
    ("control", "shown"),
    [
        ("\x1b[31m", r"\x1b[31m"),
        ("\r", r"\r"),
        ("\x00", r"\x00"),
        ("\x08", r"\x08"),
        ("\x9b31m", r"\x9b31m"),
        ("\u2028", r"\u2028"),
        ("\u202e", r"\u202e"),
    ],
)
def test_control_characters_from_a_page_are_escaped(capfd, control, shown):
    with captured(capfd) as lines:
        logging.info("title: %s end", control)
    (line,) = lines
    assert line.endswith(f"title: {shown} end")


def test_other_text_is_left_as_it_is(capfd):
    with captured(capfd) as lines:
        logging.info("Ünïcödé 日本語 \U0001f600")
    assert lines[0].endswith("Ünïcödé 日本語 \U0001f600")


def test_leaving_the_block_takes_the_handler_away_and_restores_the_level(capfd):
    root = logging.getLogger()
    before = root.level, list(root.handlers)
    with captured(capfd, "ERROR"):
        assert root.level == logging.ERROR
    assert (root.level, list(root.handlers)) == before


def test_a_line_break_in_a_page_does_not_begin_a_line_of_the_log(capfd):
    with captured(capfd) as lines:
        logging.info("title: %s", "x\n2026-01-01 00:00:00 ERROR vfa [-] all is lost")
    assert [line for line in lines if not line.startswith(" ")] == lines[:1]


def test_what_does_not_fit_is_dropped_and_counted(capfd, monkeypatch):
    monkeypatch.setattr(log, "QUEUE_SIZE", 1)
    with captured(capfd) as lines:
        for number in range(1000):
            logging.info("%d", number)
    assert lines[-1].endswith("log records were dropped")
    assert len(lines) - 1 + int(lines[-1].split()[0]) == 1000


def test_a_reader_that_never_reads_stderr_stops_neither_the_work_nor_the_exit():
    unread, stderr = os.pipe()
    try:
        process = subprocess.run(
            [sys.executable, "-c", STUCK],
            stdout=subprocess.PIPE,
            stderr=stderr,
            timeout=10,
            check=False,
        )
    finally:
        os.close(stderr)
        os.close(unread)
    assert process.stdout.split() == [b"logged", b"left"]
    assert process.returncode == 0
