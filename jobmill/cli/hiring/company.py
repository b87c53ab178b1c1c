"""jobmill hiring company, logo, letters, letter: how the company presents itself to applicants."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated, Any

import typer

from jobmill.cli.support import environment, files, output, session
from jobmill.cli.support.output import AsJson
from jobmill.db import Tx
from jobmill.errors import Invalid
from jobmill.hiring import company_identity
from jobmill.hiring.actor import LOCAL
from jobmill.hiring.company_identity import CompanyIdentity
from jobmill.hiring.logo_images import MAX_BYTES, clean_logo
from jobmill.hiring.messages import letter_templates, letter_variables, letters
from jobmill.hiring.messages.letter_variables import LetterText
from jobmill.sandbox import read_untrusted_now

ForOpening = Annotated[
    int | None, typer.Option("--opening", metavar="ID", min=1, help="Only for this opening.")
]
Text = Annotated[str | None, typer.Option(metavar="TEXT", help="An empty text removes it.")]


def company(
    name: Text = None,
    website: Text = None,
    accent: Annotated[
        str | None, typer.Option(metavar="COLOR", help="Color of buttons and links: #1f5c43.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Show or change the name, website and color of your company on public pages and in letters."""
    options = {"name": name, "website": website, "accent": accent}
    changes = {field: value for field, value in options.items() if value is not None}

    async def change_company(tx: Tx) -> CompanyIdentity:
        identity = await company_identity.read_identity(tx)
        if not changes:
            return identity
        kept = {field: getattr(identity, field) for field in options}
        return await company_identity.save_identity(tx, **(kept | changes))

    identity = session.in_transaction(change_company)
    fields = asdict(identity)
    fields["logo"] = fields.pop("logo_hash") is not None
    if as_json:
        output.print_json(fields)
        return
    for field, value in fields.items():
        text = ("yes" if value else "no") if isinstance(value, bool) else value or "(none)"
        typer.echo(output.printable(f"{field}: {text}"))


def logo(
    file: Annotated[
        str, typer.Argument(metavar="FILE", help="PNG or JPEG of up to 1 MB; `none` removes it.")
    ],
    as_json: AsJson = False,
) -> None:
    """Set the logo of your company."""
    image = None
    if file != "none":
        data = files.read_bytes(file)
        if len(data) > MAX_BYTES:
            raise Invalid(f"{file} is larger than 1 MB")
        image = read_untrusted_now(clean_logo, data)
    session.in_transaction(lambda tx: company_identity.save_logo(tx, image))
    text = "The logo is set." if image else "The logo is removed."
    output.print_result({"logo": image is not None}, text, as_json)


def list_letters(for_opening: ForOpening = None, as_json: AsJson = False) -> None:
    """List the letters to applicants with their variables."""

    async def read_texts(tx: Tx) -> dict[str, LetterText | None]:
        return {
            letter: await letter_templates.find_text(tx, letter, for_opening)
            for letter in letter_variables.VARIABLES
        }

    for letter, saved in session.in_transaction(read_texts).items():
        if as_json:
            output.print_json(_to_json(letter, saved))
        else:
            variables = " ".join(f"${name}" for name in sorted(letter_variables.VARIABLES[letter]))
            output.print_wrapped(variables, f"{letter}{' (your text)' if saved else ''}: ")


def letter(
    name: Annotated[str, typer.Argument(metavar="LETTER", help="Such as promoted.")],
    file: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="New text: `Subject: …`, then the letter; - is stdin."),
    ] = None,
    reset: Annotated[bool, typer.Option("--reset", help="Return to the default text.")] = False,
    for_opening: ForOpening = None,
    as_json: AsJson = False,
) -> None:
    """Show a letter, or change it. A letter of one opening counts before the general one."""
    letter_templates.check_letter(name)
    if file and reset:
        raise Invalid("use --file or --reset, not both")
    text = letters.parse_letter(files.read_text(file)) if file else None

    async def change_letter(tx: Tx) -> LetterText | None:
        if text or reset:
            await letter_templates.save_text(tx, name, text, LOCAL, opening_id=for_opening)
        return await letter_templates.find_text(tx, name, for_opening)

    saved = session.in_transaction(change_letter)
    if as_json:
        output.print_json(_to_json(name, saved))
        return
    current = saved or _default(name)
    typer.echo(output.printable(f"Subject: {current.subject}"))
    typer.echo()
    for line in current.body.splitlines():
        typer.echo(output.printable(line))


def _default(letter: str) -> LetterText:
    return letters.read_default(letter, environment.load_settings().letters_dir)


def _to_json(letter: str, saved: LetterText | None) -> dict[str, Any]:
    return {
        "letter": letter,
        **asdict(saved or _default(letter)),
        "variables": sorted(letter_variables.VARIABLES[letter]),
        "isDefault": saved is None,
    }
