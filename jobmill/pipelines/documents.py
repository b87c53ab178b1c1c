"""Write the documents of a match: draft them, and let a model reword their lines if the person wants."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import NamedTuple, cast

from jobmill.db import Tx
from jobmill.documents import drafting, rewording, store
from jobmill.documents.document import ApplicationDocument, DocumentKind
from jobmill.documents.drafting import WritingMaterial
from jobmill.documents.rewording import CheckedRewording
from jobmill.documents.store import DocumentId
from jobmill.errors import NotFound
from jobmill.matching import matches, profiles
from jobmill.matching.matches import Match, MatchQuery
from jobmill.matching.profiles import ProfileId
from jobmill.outside.model_question import ModelAnswer
from jobmill.people.persons import Owner
from jobmill.pipelines import blocked_models
from jobmill.queue import Block, Finish, Move, NewItem, Skip, Work
from jobmill.queue.refusals import find_live_item
from jobmill.sandbox import read_untrusted
from jobmill.tools import Tools

KIND = "document"
BULK = 10
"""Matches whose documents are written in one go."""


class WrittenDocument(NamedTuple):
    document: ApplicationDocument
    """A new draft, or the newest version of the document that the match has."""
    rewording: CheckedRewording | None = None
    model: str = ""


def new_item(
    match_id: int,
    profile_id: int,
    *,
    kinds: Sequence[DocumentKind] = ("resume", "letter"),
    reword: bool = False,
    actor: str | None = None,
) -> NewItem:
    """The item that writes the documents of a match. There is at most one of them at a time."""
    key = f"documents of match {match_id} for profile {profile_id}"
    data = {
        "match": match_id,
        "profile_id": profile_id,
        "kinds": list(kinds),
        "reword": reword,
        "actor": actor,
    }
    return NewItem(KIND, "write", key, data=data)


async def find_best(tx: Tx, profile_id: int) -> list[Match]:
    """The best matches that the person may still apply to."""
    return await matches.find(tx, MatchQuery(profile_id, statuses=("new", "saved"), limit=BULK))


async def list_best_items(
    tx: Tx, profile_id: int, *, reword: bool, actor: str | None
) -> list[NewItem]:
    """The items that write the documents of the best matches, one for each. Documents that exist stay as
    they are, but for the rewording."""
    return [
        new_item(match.id, profile_id, reword=reword, actor=actor)
        for match in await find_best(tx, profile_id)
    ]


async def is_being_written(tx: Tx, match_id: int, profile_id: int) -> bool:
    return await find_live_item(tx, new_item(match_id, profile_id)) is not None


async def write(tools: Tools, work: Work) -> Move:
    """Draft the documents that are missing, and reword their lines."""
    profile_id = ProfileId(work.data["profile_id"])
    try:
        async with tools.db.transaction() as tx:
            owner = (await profiles.get_by_id(tx, profile_id)).owner_id
            material = await drafting.read_material(tx, work.data["match"], owner=owner)
    except NotFound:
        return Skip("the match was deleted in the meantime")
    written: list[WrittenDocument] = []
    for kind in cast(Sequence[DocumentKind], work.data["kinds"]):
        document = await _find_or_draft(tools, material, kind, owner)
        answer = (
            await _reword(tools, work, material, document)
            if work.data["reword"]
            else WrittenDocument(document)
        )
        if isinstance(answer, Block):
            return answer
        written.append(answer)
    save = partial(
        _save,
        match_id=material.match.id,
        owner=owner,
        written=written,
        actor=work.data.get("actor"),
    )
    return Finish(_describe(written), save=save)


async def _find_or_draft(
    tools: Tools, material: WritingMaterial, kind: DocumentKind, owner: Owner
) -> ApplicationDocument:
    async with tools.db.transaction() as tx:
        id = await store.find_id(tx, material.match.id, kind)
        if id is not None:
            return (await store.get(tx, id, owner=owner)).document()
    return await drafting.draft_document(material, kind)


async def _reword(
    tools: Tools, work: Work, material: WritingMaterial, document: ApplicationDocument
) -> WrittenDocument | Block:
    """Ask the model. Without an answer, the person's own words stand."""
    if not rewording.lines_to_send(document):
        return WrittenDocument(document)
    question = rewording.build_question(
        document,
        material.posting,
        item=work.id,
        run=work.tracking_id,
        person_id=material.version.owner_id,
    )
    answer = await tools.model(question)
    if isinstance(answer, ModelAnswer):
        # The words of the answer are read in a child process, because the posting may have chosen them.
        checked = await read_untrusted(rewording.check_answer, document, answer.answer)
        return WrittenDocument(document, checked, answer.model)
    return blocked_models.block_or_retry(work, answer) or WrittenDocument(document)


async def _save(
    tx: Tx,
    *,
    match_id: int,
    owner: Owner,
    written: Sequence[WrittenDocument],
    actor: str | None,
) -> None:
    try:
        for part in written:
            id = await store.create(tx, match_id, part.document, owner=owner, actor=actor)
            if part.rewording:
                await _save_rewording(tx, id, part.rewording, part.model, owner, actor)
    except NotFound:
        return  # The person erased their job search meanwhile.


async def _save_rewording(
    tx: Tx,
    id: DocumentId,
    checked: CheckedRewording,
    model: str,
    owner: Owner,
    actor: str | None,
) -> None:
    """Reword the newest version: the person may have edited the document meanwhile."""
    stored = await store.lock(tx, id, owner=owner)
    document = rewording.apply_rewording(stored.document(), checked, model)
    await store.save(
        tx, id, document, based_on=stored.version, what="reworded", owner=owner, actor=actor
    )


def _describe(written: Sequence[WrittenDocument]) -> str:
    kinds = " and ".join(part.document.kind for part in written)
    kept = sum(len(part.rewording.texts) for part in written if part.rewording)
    dropped = sum(len(part.rewording.dropped) for part in written if part.rewording)
    reworded = f", {kept} lines reworded, {dropped} rewordings dropped" if kept + dropped else ""
    return f"{kinds} written{reworded}"
