"""Reports as JSON."""

from __future__ import annotations

import json

import pytest

from tests.scenes import empty_report, many_findings, sample_report
from vfa.errors import InvalidArgsError
from vfa.report.json import from_json, to_json


@pytest.mark.parametrize("make", [sample_report, empty_report, many_findings])
def test_a_report_survives_being_written_and_read(make):
    assert from_json(to_json(make())) == make()


def test_the_json_is_what_any_program_can_read():
    document = json.loads(to_json(sample_report()))
    assert document["findings"][0]["id"] == "FND-001"
    assert document["findings"][1]["evidence"]["box"]["width"] == 92
    assert document["pages"][0]["requests"][0]["kind"] == "Document"


def test_the_json_can_be_read_by_people():
    assert to_json(empty_report()).startswith(b'{\n  "url": "http://')


@pytest.mark.parametrize("data", [b"", b"[]", b"{}", b'{"url": 3}', b"\xff\xfe", "<html>"])
def test_what_is_no_report_is_refused_with_a_reason(data):
    with pytest.raises(InvalidArgsError, match="not the JSON of a report"):
        from_json(data)
