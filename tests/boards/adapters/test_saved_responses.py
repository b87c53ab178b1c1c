"""Every field that adapters read from the saved responses, before missing fields are inferred.

`answers/whole.json` was checked line by line; change it only if it is wrong.
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
from .test_malformed_responses import CONFIGS

WHOLE: dict[str, Any] = json.loads(answer("whole.json"))
URLS = {
    "breezy/page.html": "https://emberglass.breezy.hr/p/a1b2c3d4e5f6-glass-blower",
    "jobvite/page.html": "https://jobs.jobvite.com/saltmarsh/job/oAbc1fwx",
}


def plain(posting: Posting) -> dict[str, Any]:
    """The fields of the posting that are set, as JSON."""
    defaults = {field.name: field.default for field in fields(Posting)}
    values = {name: value for name, value in asdict(posting).items() if value != defaults[name]}
    # Blank lines between blocks are not decided by adapters.
    values |= {
        name: "\n".join(lines(values[name]))
        for name in values.keys() & {"description", "requirements"}
    }
    return json.loads(json.dumps(values, default=dt.datetime.isoformat))


def test_every_saved_response_with_postings_is_covered() -> None:
    saved = {f"{name}/{path.name}" for name in CONFIGS for path in (ANSWERS / name).iterdir()}
    without = {"breezy/root.html", "icims/frame.html", "hackernews/threads.json"}
    assert WHOLE.keys() == saved - without


@pytest.mark.parametrize("name", WHOLE)
def test_every_field_of_a_saved_response_is_read(name: str) -> None:
    platform = BY_NAME[name.partition("/")[0]]
    config = platform.parse_config(CONFIGS[platform.name])
    assert platform.first_request
    assert platform.read
    request = Request(URLS.get(name) or platform.first_request(config).url)
    page = platform.read(answer(name), request, config)
    assert [plain(posting) for posting in page.postings] == WHOLE[name]
