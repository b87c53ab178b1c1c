"""Imports items of an older queue as real work: their companies, jobs and source configs are created first."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import chain

from jobmill.boards.adapters import PLATFORM_RULES
from jobmill.catalog import save_posting, urls
from jobmill.catalog.companies import CompanyId
from jobmill.db import Tx
from jobmill.errors import Conflict, Invalid, NotFound
from jobmill.matching import profiles
from jobmill.pipelines import company, discovery, judging, submission
from jobmill.pipelines.legacy_lines import BadLine, LegacyLine, read_lines
from jobmill.queue import NewItem
from jobmill.queue.legacy_import import ImportReport, LegacyItem, store_items
from jobmill.queue.value_encoding import check_new_item, encode_row
from jobmill.sandbox import ReaderStopped, read_untrusted

MAX_LINES = 200_000
CHUNK_LINES = 500
CHUNK_BYTES = 4 * 1024 * 1024
CHUNK_CPU_SECONDS = 20.0

NumberedLine = tuple[int, bytes]


async def import_lines(
    tx: Tx,
    lines: Iterable[NumberedLine],
    *,
    rename: Mapping[str, str] | None = None,
    profile: str | None = None,
) -> ImportReport:
    """Import the items that are new; the report names the lines that cannot be imported.

    A second import of the same lines changes nothing. `profile`: jobs are judged for it, or for the default
    profile.
    """
    good: list[LegacyLine] = []
    bad: list[BadLine] = []
    for lines_of_chunk in _chunks(lines):
        for line in await _read_chunk(lines_of_chunk, dict(rename or {})):
            if isinstance(line, BadLine):
                bad.append(line)
            else:
                good.append(line)
    mapper = _Mapper(tx, good, profile)
    items: list[LegacyItem] = []
    for line in good:
        try:
            items.append(await mapper.map(line))
        except Invalid as error:
            bad.append(BadLine(line.number, str(error)))
    imported = await store_items(tx, items)
    texts = [f"line {line.number}: {line.problem}" for line in sorted(bad, key=lambda line: line.number)]  # fmt: skip
    return ImportReport(imported, len(items) - imported, texts)


def _chunks(lines: Iterable[NumberedLine]) -> Iterable[list[NumberedLine]]:
    chunk: list[NumberedLine] = []
    size = 0
    for number, raw in lines:
        if number > MAX_LINES:
            raise Invalid(f"the file has more than {MAX_LINES:,} lines: split it")
        if not raw.strip():
            continue
        if chunk and (len(chunk) == CHUNK_LINES or size + len(raw) > CHUNK_BYTES):
            yield chunk
            chunk, size = [], 0
        chunk.append((number, raw))
        size += len(raw)
    if chunk:
        yield chunk


async def _read_chunk(
    lines: Sequence[NumberedLine], rename: Mapping[str, str]
) -> Sequence[LegacyLine | BadLine]:
    try:
        return await read_untrusted(read_lines, lines, rename, cpu_seconds=CHUNK_CPU_SECONDS)
    except ReaderStopped as error:
        if len(lines) == 1:
            return [BadLine(lines[0][0], str(error))]
        # One line broke the reader: read each alone to find it.
        return list(chain.from_iterable([await _read_chunk([line], rename) for line in lines]))


class _Mapper:
    """Maps lines onto items of this queue, and creates what their stages read from the catalog."""

    def __init__(self, tx: Tx, lines: Sequence[LegacyLine], profile: str | None) -> None:
        self._tx = tx
        self._profile = profile
        self._profile_id: int | None = None
        self._companies: dict[tuple[str, str | None], CompanyId] = {}
        # Some items of a company have only its URL; another line may tell its name.
        self._names = {
            domain: line.company_name
            for line in lines
            if line.company_name and (domain := _domain(line.company_website or line.url))
        }

    async def map(self, line: LegacyLine) -> LegacyItem:
        """The item, with the key and data that its stages expect."""
        if line.item.kind == company.KIND:
            new = await self._company_item(line)
        elif line.item.kind == discovery.KIND:
            new = await self._discovery_item(line)
        else:
            new = await self._listing_item(line)
        check_new_item(new)
        # Ended items keep what the older queue stored for them.
        data = encode_row(new.data) if line.item.is_unfinished else line.item.data
        return replace(line.item, key=new.key, data=data)

    async def _company_item(self, line: LegacyLine) -> NewItem:
        website = line.company_website or line.url
        id = await self._ensure_company(line.company_name, website)
        if id is None:
            raise Invalid("a company needs company_name, company_website or url")
        return company.new_item(id)

    async def _discovery_item(self, line: LegacyLine) -> NewItem:
        config = line.discovery
        assert config
        name = config.company_name or line.company_name
        id = await self._ensure_company(name, line.company_website) if name else None
        return discovery.new_item(config.model_copy(update={"company_id": id}))

    async def _listing_item(self, line: LegacyLine) -> NewItem:
        if not line.url:
            raise Invalid("a job needs url")
        if line.company_name:
            await self._ensure_company(line.company_name, line.company_website)
        new = judging.new_item_for_url(line.url, await self._ensure_profile())
        if line.posting is None or not line.item.is_unfinished:
            return new
        listing_id = await save_posting.save(
            self._tx, line.posting, PLATFORM_RULES, website=line.company_website
        )
        return replace(new, data={**new.data, "listing_id": listing_id})

    async def _ensure_company(self, name: str | None, website: str | None) -> CompanyId | None:
        if website and "://" not in website:
            website = f"https://{website}"
        if website:
            urls.parse(website)
            name = name or self._names.get(_domain(website)) or submission.name_of_host(website)
        if not name:
            return None
        if (name, website) not in self._companies:
            id = await company.ensure_company(self._tx, name, website)
            self._companies[name, website] = id
        return self._companies[name, website]

    async def _ensure_profile(self) -> int:
        if self._profile_id is None:
            self._profile_id = await self._find_profile()
        return self._profile_id

    async def _find_profile(self) -> int:
        try:
            return (await profiles.get(self._tx, self._profile)).profile_id
        except NotFound:
            if self._profile:
                raise
            raise Conflict(
                "the file has jobs, and there is no profile to score them for: create one with "
                "`jobmill profile import`, then import the file again; nothing was imported"
            ) from None


def _domain(url: str | None) -> str:
    try:
        return (urls.domain(url if "://" in url else f"https://{url}") or "") if url else ""
    except Invalid:
        return ""
