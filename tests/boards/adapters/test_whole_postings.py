"""All that the adapters make of the saved answers, field by field, before words fill the gaps.

`answers/whole.json` was checked line by line; change it only where what it says is not right.
"""

from __future__ import annotations

import datetime as dt
import json
from dataclasses import asdict, fields
from typing import Any

import pytest

from jobmill.boards.adapters import BY_NAME
from jobmill.catalog.posting import Posting
from jobmill.outside.request import Request

from . import ANSWERS, answer, lines
from .test_odd_answers import CONFIGS

WHOLE: dict[str, Any] = json.loads(answer("whole.json"))
URLS = {
    "breezy/page.html": "https://emberglass.breezy.hr/p/a1b2c3d4e5f6-glass-blower",
    "jobvite/page.html": "https://jobs.jobvite.com/saltmarsh/job/oAbc1fwx",
}


def plain(posting: Posting) -> dict[str, Any]:
    """What the posting says, in the shape of JSON."""
    defaults = {one.name: one.default for one in fields(Posting)}
    said = {name: value for name, value in asdict(posting).items() if value != defaults[name]}
    # How far apart blocks stand is not what adapters decide.
    said |= {
        name: "\n".join(lines(said[name])) for name in said.keys() & {"description", "requirements"}
    }
    return json.loads(json.dumps(said, default=dt.datetime.isoformat))


def test_every_saved_answer_with_postings_is_here() -> None:
    saved = {f"{name}/{path.name}" for name in CONFIGS for path in (ANSWERS / name).iterdir()}
    without = {"breezy/root.html", "icims/frame.html", "hackernews/threads.json"}
    assert WHOLE.keys() == saved - without


@pytest.mark.parametrize("name", WHOLE)
def test_an_answer_is_read_field_by_field(name: str) -> None:
    platform = BY_NAME[name.partition("/")[0]]
    config = platform.parse_config(CONFIGS[platform.name])
    assert platform.first_request
    assert platform.read
    request = Request(URLS.get(name) or platform.first_request(config).url)
    page = platform.read(answer(name), request, config)
    assert [plain(one) for one in page.postings] == WHOLE[name]
