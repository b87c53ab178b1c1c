"""/account/two-factor: authenticator app, passkeys and recovery codes."""

from __future__ import annotations

from collections.abc import Mapping

from fastapi import APIRouter, Response
from fastapi.responses import HTMLResponse, RedirectResponse

from jobmill.errors import AppError, Conflict, Invalid
from jobmill.people import passkeys, second_factors, totp
from jobmill.people.devices import describe_device
from jobmill.people.persons import Person
from jobmill.web import qr_codes, sign_in
from jobmill.web.account_holder import AccountHolder, find_account_holder
from jobmill.web.auth import SignedIn
from jobmill.web.dependencies import Db, no_store
from jobmill.web.form import Fields
from jobmill.web.parameters import PathId
from jobmill.web.password_prompt import ConfirmedPerson
from jobmill.web.shell import Page, PageRenderer
from jobmill.web.translations import say

router = APIRouter(prefix="/account/two-factor")


@router.get("")
async def show(visitor: SignedIn, page: Page) -> Response:
    return await _render(page)


@router.post("/app")
async def set_up_app(visitor: ConfirmedPerson, person: AccountHolder, page: Page) -> Response:
    """Show the seed of a new app, until its first code confirms it."""
    try:
        async with page.db.transaction() as tx:
            seed = await second_factors.set_up_app(tx, person.id)
    except Conflict as error:
        return await _render(page, error)
    return _show_seed(page, person, seed)


@router.post("/app/confirm")
async def confirm_app(person: AccountHolder, form: Fields, page: Page) -> Response:
    """Turn the app on and show the recovery codes once."""
    try:
        async with page.db.transaction() as tx:
            seed = await second_factors.get_unconfirmed_seed(tx, person.id)
    except Conflict as error:
        return await _render(page, error)
    try:
        async with page.db.transaction() as tx:
            codes = await second_factors.confirm_app(tx, person.id, form.get("code", ""))
    except Invalid as error:
        return _show_seed(page, person, seed, error)
    return _show_codes(page, codes)


@router.post("/app/remove")
async def remove_app(visitor: ConfirmedPerson, person: AccountHolder, page: Page) -> Response:
    try:
        async with page.db.transaction() as tx:
            await second_factors.remove_app(tx, person.id)
    except Conflict as error:
        return await _render(page, error)
    return RedirectResponse("/account/two-factor?did=removed", 303)


@router.post("/passkeys/new")
async def start_passkey(visitor: ConfirmedPerson, person: AccountHolder, page: Page) -> Response:
    """The page that asks the browser for a passkey."""
    try:
        return await _show_passkey_form(page, person)
    except Conflict as error:
        return await _render(page, error)


@router.post("/passkeys")
async def add_passkey(person: AccountHolder, form: Fields, page: Page) -> Response:
    """Store the passkey. Only a page that asked for the password has a challenge to sign."""
    name, credential = form.get("name", ""), form.get("credential", "")
    try:
        async with page.db.transaction() as tx:
            was_on = (await second_factors.find(tx, person.id)).is_on
            await passkeys.finish_registration(
                tx, person.id, name, credential, sign_in.site_of(page.request)
            )
            codes = [] if was_on else await second_factors.replace_recovery_codes(tx, person.id)
    except (Conflict, Invalid) as error:
        return await _render(page, error)
    if codes:
        return _show_codes(page, codes)
    return RedirectResponse("/account/two-factor?did=passkey", 303)


@router.post("/passkeys/{passkey_id}/remove")
async def remove_passkey(
    passkey_id: PathId, visitor: ConfirmedPerson, person: AccountHolder, db: Db
) -> Response:
    async with db.transaction() as tx:
        await passkeys.remove(tx, person.id, passkey_id)
        await second_factors.end_unneeded_codes(tx, person.id)
    return RedirectResponse("/account/two-factor?did=passkey-removed", 303)


async def _show_passkey_form(page: PageRenderer, person: Person) -> HTMLResponse:
    async with page.db.transaction() as tx:
        options = await passkeys.start_registration(tx, person, sign_in.site_of(page.request))
    device = describe_device(page.request.headers.get("user-agent", ""))
    return no_store(page("account/new_passkey.html", options=options, name=device))


@router.post("/recovery-codes")
async def replace_recovery_codes(
    visitor: ConfirmedPerson, person: AccountHolder, page: Page
) -> Response:
    try:
        async with page.db.transaction() as tx:
            if not (await second_factors.find(tx, person.id)).is_on:
                raise Conflict(say("Set up an authenticator app or a passkey first."))
            codes = await second_factors.replace_recovery_codes(tx, person.id)
    except Conflict as error:
        return await _render(page, error)
    return _show_codes(page, codes)


def _show_seed(
    page: PageRenderer, person: Person, seed: bytes, error: AppError | None = None
) -> HTMLResponse:
    url = totp.provisioning_url(seed, person.email)
    return no_store(
        page(
            "account/set_up_app.html",
            picture=qr_codes.draw_qr_code(url),
            url=url,
            seed=totp.format_seed(seed),
            error=error,
        )
    )


def _show_codes(page: PageRenderer, codes: list[str]) -> HTMLResponse:
    return no_store(page("account/recovery_codes.html", codes=codes))


async def _render(page: PageRenderer, error: AppError | None = None) -> Response:
    person = await find_account_holder(page.request, page.db)
    if person is None:
        # Without an account, the account page explains why.
        return RedirectResponse("/account", 303)
    async with page.db.transaction() as tx:
        factor = await second_factors.find(tx, person.id)
        stored = await passkeys.find_all(tx, person.id)
    return page(
        "account/two_factor.html",
        factor=factor,
        passkeys=stored,
        notice=_notices().get(page.did),
        error=error,
    )


def _notices() -> Mapping[str, str]:
    return {
        "removed": say("Authenticator app removed."),
        "passkey": say("Passkey added."),
        "passkey-removed": say("Passkey removed."),
    }
