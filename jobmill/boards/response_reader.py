"""Reads an answer with its platform's adapter, and makes the postings whole."""

from __future__ import annotations

from dataclasses import replace

from pydantic import ValidationError

from jobmill.catalog.posting import Posting
from jobmill.errors import Invalid, OutsideError
from jobmill.extract.fields.missing_fields import fill_missing_fields
from jobmill.outside.request import Request

from .platform import Config, Page, Platform


def configure(platform: Platform, config: dict[str, object]) -> Config:
    """The config, checked; Invalid names each thing that is wrong."""
    try:
        return platform.config.model_validate(config)
    except ValidationError as error:
        wrong = "; ".join(
            f"{'.'.join(map(str, problem['loc'])) or 'config'}: {problem['msg']}"
            for problem in error.errors()
        )
        raise Invalid(f"not a config of {platform.title}: {wrong}") from None


def read(platform: Platform, body: bytes, request: Request, config: Config) -> Page:
    """What an answer holds; OutsideError when the platform answers in a way we do not know."""
    if platform.read is None:
        raise Invalid(f"{platform.title} is recognised but cannot be read yet")
    try:
        page = platform.read(body, request, config)
    except (OutsideError, ValidationError, ValueError, RecursionError) as error:
        # RecursionError: a page nested thousands of levels deep.
        raise OutsideError(
            f"{platform.title} answered in a way we do not know: {_first_line(error)}",
            permanent=True,
        ) from error
    postings = tuple(
        fill_missing_fields(replace(one, platform=platform.name)) for one in page.postings
    )
    return replace(page, postings=postings)


def read_detail(platform: Platform, body: bytes, posting: Posting, config: Config) -> Posting:
    """The posting with what its own answer adds; OutsideError as for `read`."""
    assert platform.read_detail is not None
    try:
        whole = platform.read_detail(body, posting, config)
    except (OutsideError, ValidationError, ValueError, RecursionError) as error:
        raise OutsideError(
            f"{platform.title} answered in a way we do not know: {_first_line(error)}",
            permanent=True,
        ) from error
    return fill_missing_fields(replace(whole, platform=platform.name, partial=False))


def _first_line(error: Exception) -> str:
    if isinstance(error, ValidationError):
        first = error.errors()[0]
        return f"{'.'.join(map(str, first['loc'])) or 'the answer'}: {first['msg']}"
    return (str(error).splitlines() or [type(error).__name__])[0][:200]
