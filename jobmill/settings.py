"""Everything an operator can set: `JOBMILL_*` variables over `jobmill.yaml` over the defaults."""

from __future__ import annotations

import difflib
import ipaddress
import os
import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Annotated, Any, Literal, cast, get_origin

import platformdirs
from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    SecretStr,
    ValidationError,
)

from jobmill.errors import Invalid

PREFIX = "JOBMILL_"
FILE = "jobmill.yaml"
OTHER_VARIABLES = ("JOBMILL_CONFIG", "JOBMILL_DEBUG", "JOBMILL_TEST_DATABASE_URL")
CONNECTION_STRINGS = ("database_url", "database_direct_url")
"""Settings that may hold a password in either form of a connection string: never print them whole."""
KUBERNETES = re.compile(r"JOBMILL_(SERVICE_(HOST|PORT)(_.*)?|PORT(_\d+_.*)?)")
"""What Kubernetes sets in every pod beside a service named jobmill: not for us."""

HOST_NAME = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9.-]{0,251}[A-Za-z0-9])?|[0-9a-fA-F:]+")
HOST_PORT = re.compile(r"(?:[^\s:,/@]+|\[[0-9a-fA-F:]+\]):(\d{1,5})")


def _postgres_url(text: str) -> str:
    if not text:
        return text
    import psycopg  # Commands that need no database start faster without it.
    from psycopg.conninfo import conninfo_to_dict

    is_url = text.startswith(("postgresql://", "postgres://"))
    try:
        parameters = conninfo_to_dict(text)
    except psycopg.ProgrammingError:
        # Not the parser's own message: it quotes a part of the text, which may be a password.
        raise ValueError("not a connection string of PostgreSQL") from None
    if not (is_url or parameters):
        raise ValueError("not a connection string of PostgreSQL")
    return text


PostgresUrl = Annotated[str, AfterValidator(_postgres_url)]
"""Either form that libpq reads: postgresql://host/name or host=… dbname=…"""


def _header_text(text: str) -> str:
    if not text.isascii() or not text.isprintable() or text != text.strip():
        raise ValueError("not a text that a header can hold")
    return text


def _host_ports(text: str) -> str:
    for part in text.split(",") if text else []:
        _host_port(part.strip())
    return text


def _host_port(text: str) -> str:
    found = HOST_PORT.fullmatch(text)
    if not (found and 0 < int(found[1]) < 65_536):
        raise ValueError("not hosts with ports")
    return text


def _host_names(text: str) -> str:
    if not all(HOST_NAME.fullmatch(name) for name in split_list(text)):
        raise ValueError("not names of hosts")
    return text


def _networks(text: str) -> str:
    for part in split_list(text):
        ipaddress.ip_network(part)
    return text


def split_list(text: str) -> list[str]:
    """What stands between the commas of a setting."""
    return [part.strip() for part in text.split(",")] if text else []


MODEL = re.compile(r"none|(?:anthropic|openai|ollama):[!-~]+")
BASE_URL = re.compile(r"https?://[^\s/@?#]+(?:/[^\s@?#]*)?")
PRICE = re.compile(r"\d{1,6}(?:\.\d{1,6})?/\d{1,6}(?:\.\d{1,6})?")


def _model(text: str) -> str:
    if not MODEL.fullmatch(text):
        raise ValueError("not a model")
    return text


def _base_url(text: str) -> str:
    if not BASE_URL.fullmatch(text):
        raise ValueError("not a URL")
    return text


SMTP_URL = re.compile(
    r"smtps?://(?:[^\s/@:?#]+(?::[^\s/@?#]*)?@)?([^\s/@:?#\[\]]+|\[[0-9a-fA-F:]+\])(?::(\d{1,5}))?/?"
)
ADDRESS = r"[A-Za-z0-9.!#$%&'*+/=?^_`{|}~-]+@[A-Za-z0-9.-]*[A-Za-z0-9]"
SENDER = re.compile(rf"{ADDRESS}|[^<>@\"\r\n]+ <{ADDRESS}>")


def _smtp_url(given: SecretStr) -> SecretStr:
    url = given.get_secret_value()
    found = SMTP_URL.fullmatch(url)
    if url and not (found and 0 < int(found[2] or 25) < 65_536):
        raise ValueError("not a URL of a mail server")
    return given


def _sender(text: str) -> str:
    if text and not (SENDER.fullmatch(text) and text.isprintable()):
        raise ValueError("not an address")
    return text


def _public_url(text: str) -> str:
    return _base_url(text).rstrip("/") if text else text


def _price(text: str) -> str:
    if not PRICE.fullmatch(text):
        raise ValueError("not two prices")
    return text


UserPath = Annotated[Path, AfterValidator(lambda path: Path(os.path.expanduser(path)))]
HeaderText = Annotated[str, AfterValidator(_header_text)]
HostNames = Annotated[str, AfterValidator(_host_names)]
Networks = Annotated[str, AfterValidator(_networks)]
HostPorts = Annotated[str, AfterValidator(_host_ports)]
HostPort = Annotated[str, AfterValidator(_host_port)]
Count = Annotated[int, Field(ge=1, le=10_000_000)]
ModelName = Annotated[str, AfterValidator(_model)]
BaseUrl = Annotated[str, AfterValidator(_base_url)]
TwoPrices = Annotated[str, AfterValidator(_price)]
SmtpUrl = Annotated[SecretStr, AfterValidator(_smtp_url)]
Sender = Annotated[str, AfterValidator(_sender)]
PublicUrl = Annotated[str, AfterValidator(_public_url)]
Dollars = Annotated[float, Field(ge=0, le=1_000_000, allow_inf_nan=False)]


class Settings(BaseModel):
    """Built directly it holds the defaults; `load` reads what the operator set."""

    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)

    database_url: PostgresUrl = Field(default="", repr=False)
    """The PostgreSQL (15 or newer) to use. Empty: Jobmill starts its bundled server.
    The variable DATABASE_URL sets it too."""

    database_pooler: Literal["none", "transaction"] = "none"
    """Whether `database_url` names a connection pooler in transaction mode, such as PgBouncer.
    Only the web pages connect through the pooler; everything else uses `database_direct_url`."""

    database_direct_url: PostgresUrl = Field(default="", repr=False)
    """How to reach the same database without the pooler. Required if `database_pooler` is
    `transaction`."""

    data_dir: UserPath = Field(default_factory=lambda: platformdirs.user_data_path("jobmill"))
    """Where the PostgreSQL that we start keeps its data."""

    postgres_bin: UserPath | None = None
    """The folder of the PostgreSQL programs. Empty: those that we bring."""

    postgres_connections: Annotated[int, Field(ge=10, le=10_000)] = 100
    """How many connections the PostgreSQL that we start allows."""

    web_host: str = "127.0.0.1"
    """The address that the web pages are served on. Where other machines can reach it, people sign in."""

    web_port: Annotated[int, Field(ge=0, le=65_535)] = 8000
    """The port that the web pages are served on; 0 takes any free one."""

    web_names: HostNames = ""
    """The names and addresses that the pages are called by, beside web_host. With any, people sign in."""

    trusted_proxies: Networks = ""
    """The proxies in front of the pages, which are believed when they say for whom they ask
    (X-Forwarded-For, X-Forwarded-Proto). With any, people sign in."""

    public_requests_per_minute: Count = 60
    """How often a stranger's address may ask for each of the things that need no sign-in."""

    log_level: Literal["debug", "info", "warning", "error"] = "info"
    """The least important messages that are logged."""

    log_format: Literal["text", "json"] = "text"
    """Lines for people, or one JSON object a line for programs."""

    poll_only: bool = False
    """Look for work once a second instead of waiting for notifications (LISTEN). A connection pooler
    in transaction mode does not need this: see `database_pooler`."""

    processors: Count = 10
    """How many items of a phase one worker process runs at the same time."""

    processors_by_phase: dict[str, Count] = Field(default_factory=dict)
    """The same for single phases, where it differs."""

    queue_capacity: Count = 1000
    """How many items may wait in a phase; beyond that new ones are refused."""

    max_retries: Annotated[int, Field(ge=0, le=1_000)] = 3
    """How often a failed item is tried again before it is set aside."""

    max_spawn_depth: Annotated[int, Field(ge=0, le=1_000)] = 10
    """How many generations of items may spring from one item."""

    run_limit_seconds: Annotated[float, Field(gt=0, allow_inf_nan=False)] = 300
    """How long one attempt at one phase of an item may run."""

    keep_finished_days: Count = 30
    """How long finished items are kept."""

    keep_closed_days: Count = 180
    """How long listings are kept after they closed; those that somebody marked stay for ever."""

    rotation_policy: Literal["yield", "seed"] = "yield"
    """How sources are chosen: by the new listings that a call is expected to bring, or by fixed
    intervals and staleness alone."""

    rotation_calls_per_day: Annotated[float, Field(ge=0, le=10_000_000, allow_inf_nan=False)] = 1200
    """How many sources are called a day under the policy `yield`; 0 stops the recurring run."""

    max_company_targets_per_run: Count = 50
    """How many boards of one platform a run calls."""

    max_search_slices_per_run: Count = 50
    """How many searches and feeds a run calls, of all platforms together."""

    greenhouse_max_boards_per_run: Count = 50
    """The first of these two for Greenhouse."""

    lever_max_companies_per_run: Count = 50
    """The same for Lever."""

    user_agent: Annotated[HeaderText, Field(min_length=1)] = "jobmill (self-hosted job search)"
    """What we call ourselves at other sites (ASCII); its first word is the name we look for in robots.txt."""

    contact: HeaderText = ""
    """A page or an address where the people of a site reach you; it is sent along with our name."""

    host_interval_seconds: Annotated[float, Field(gt=0, le=3_600, allow_inf_nan=False)] = 1
    """How far apart two calls to one host begin, over all workers."""

    host_calls: Annotated[int, Field(ge=1, le=100)] = 3
    """How many calls to one host run at the same time, over all workers."""

    private_hosts: HostPorts = ""
    """Hosts that are asked although they are not public, for a test or a demonstration.
    Never set it where strangers may name URLs."""

    stand_ins: dict[str, HostPort] = Field(default_factory=dict)
    """Servers that answer, by plain HTTP, in place of public hosts (`*.acme.example` for all below
    one), for a test or a demonstration. Never set it where strangers may name URLs."""

    chromium: UserPath | None = None
    """The browser for pages that need one. Empty: `$CHROMIUM`, else the one in the PATH."""

    model_cheap: ModelName = "anthropic:claude-haiku-5-5"
    """The model that reads. Without its key (ANTHROPIC_API_KEY or OPENAI_API_KEY, only in the
    environment) all is done locally."""

    model_strong: ModelName = "anthropic:claude-sonnet-5-5"
    """The model that judges."""

    company_model: Literal["cheap", "strong", "none"] = "strong"
    """Which of the two reads what companies say of themselves; none: rules alone do."""

    anthropic_base_url: BaseUrl = "https://api.anthropic.com"
    """Where models named anthropic:… are asked; it may be private, and is sent the key."""

    openai_base_url: BaseUrl = "https://api.openai.com/v1"
    """Where models named openai:… are asked: any server that speaks as OpenAI does."""

    ollama_base_url: BaseUrl = "http://127.0.0.1:11434/v1"
    """Where models named ollama:… are asked."""

    model_streaming: bool = False
    """Whether answers are asked for piece by piece, for proxies that cut silent connections."""

    model_prices: dict[str, TwoPrices] = Field(default_factory=dict)
    """US dollars for a million tokens in and out, for models that we know no price of or that
    cost you something else."""

    budget_call: Dollars = 0.25
    """The most that one call of a model may cost, in US dollars; 0 in this or the next three: nothing is paid."""

    budget_run: Dollars = 1.00
    """The same for all that springs from one submitted item."""

    budget_day: Dollars = 1.00
    """The same for a day (UTC)."""

    budget_month: Dollars = 20.00
    """The same for a month (UTC)."""

    budget_spent_out: Literal["block", "local"] = "block"
    """What becomes of work when the day or the month is spent: it waits for the next, or goes on
    without a model."""

    smtp_url: SmtpUrl = SecretStr("")
    """The server that letters to applicants are handed to, such as smtp://user:password@host:587
    (with a password only under TLS) or smtps://…. Empty: nobody is written to."""

    mail_from: Sender = ""
    """Whom letters come from: an address, or `Name <address>`."""

    public_url: PublicUrl = ""
    """Where applicants reach the web pages: the beginning of all links in letters. Empty:
    http:// with web_host and web_port."""

    letters_dir: UserPath | None = None
    """A folder with letters of your own; those it does not hold are ours."""

    fold_email_aliases: bool = False
    """Whether aliases of one mailbox (ada+jobs@…, and dots at Gmail) are one applicant."""

    applications_per_person_per_day: Annotated[int, Field(ge=0, le=10_000)] = 0
    """How often one person may apply within a day; 0: as often as they like."""


def public_base_url(settings: Settings) -> str:
    """What every link that we give out begins with; no slash at its end."""
    host = f"[{settings.web_host}]" if ":" in settings.web_host else settings.web_host
    return settings.public_url or f"http://{host}:{settings.web_port}"


class _Given:
    """One value as the operator wrote it, and where."""

    def __init__(self, raw: object, origin: str, label: str) -> None:
        self.raw = raw
        self.origin = origin
        self.label = label


def load(
    environ: Mapping[str, str] | None = None, folder: Path | None = None
) -> tuple[Settings, dict[str, str]]:
    """The settings, and for each where it came from; Invalid names all that is wrong."""
    environ = os.environ if environ is None else environ
    file = find_file(environ, folder)
    given = _from_file(file) if file else {}
    given |= _from_environment(environ)
    try:
        settings = Settings.model_validate_strings({name: got.raw for name, got in given.items()})
    except ValidationError as error:
        raise Invalid("; ".join(_explain(error, given))) from None
    _check_pooler(settings)
    origins = {name: "default" for name in Settings.model_fields}
    return settings, origins | {name: got.origin for name, got in given.items()}


def _check_pooler(settings: Settings) -> None:
    direct_url = "database_direct_url (JOBMILL_DATABASE_DIRECT_URL)"
    if settings.database_pooler == "none":
        if settings.database_direct_url:
            raise Invalid(
                f"{direct_url} is set, but database_pooler is none: set database_pooler "
                "(JOBMILL_DATABASE_POOLER) to transaction if database_url names a connection "
                "pooler, or remove database_direct_url"
            )
        return
    if not settings.database_url:
        raise Invalid(
            "database_pooler is transaction, but database_url is empty: set database_url "
            "(DATABASE_URL) to the connection pooler, or set database_pooler to none"
        )
    if not settings.database_direct_url:
        raise Invalid(
            f"database_pooler is transaction, but database_direct_url is empty: set {direct_url} "
            "to a URL that reaches the same database without the pooler; workers, LISTEN, "
            "migrations and commands need it"
        )


def find_file(environ: Mapping[str, str] | None = None, folder: Path | None = None) -> Path | None:
    """The file that settings are read from, if there is one."""
    environ = os.environ if environ is None else environ
    chosen = environ.get("JOBMILL_CONFIG")
    if chosen:
        file = Path(os.path.expanduser(chosen)).absolute()
        if not file.is_file():
            raise Invalid(f"JOBMILL_CONFIG names {file}, which is not a file")
        return file
    return next((file for file in search_paths(folder) if file.is_file()), None)


def search_paths(folder: Path | None = None) -> list[Path]:
    """Where a file of settings is looked for; the first one found counts."""
    return [(folder or Path.cwd()) / FILE, platformdirs.user_config_path("jobmill") / FILE]


_DATABASE = "a URL that starts with postgresql://, or pairs such as host=a,b dbname=jobmill"
_URL = "a URL that starts with http:// or https://, without a password"
_MODEL = "anthropic:MODEL or openai:MODEL or ollama:MODEL or none"
_IN_WORDS = {
    "database_url": _DATABASE,
    "database_direct_url": _DATABASE,
    "web_names": "host,host",
    "trusted_proxies": "address,address (or networks, as 10.0.0.0/8)",
    "private_hosts": "host:port,host:port",
    "stand_ins": "host=host:port,host=host:port",
    "model_cheap": _MODEL,
    "model_strong": _MODEL,
    "model_prices": "model=IN/OUT,model=IN/OUT",
    "anthropic_base_url": _URL,
    "openai_base_url": _URL,
    "ollama_base_url": _URL,
    "smtp_url": "a URL that starts with smtp:// or smtps://",
    "mail_from": "an address, alone or in angle brackets behind a name",
    "public_url": _URL,
}


def describe_allowed(name: str) -> str:
    """In words, what a setting accepts."""
    if name in _IN_WORDS:
        return _IN_WORDS[name]
    return _words(_schema()["properties"][name])


@cache
def _schema() -> dict[str, Any]:
    return Settings.model_json_schema()


def _words(schema: dict[str, Any]) -> str:
    match schema:
        case {"anyOf": [first, *_]}:
            return _words(first)
        case {"enum": choices}:
            return " or ".join(choices)
        case {"additionalProperties": inner}:
            return f"phase=N,phase=N, each {_words(inner)}"
        case {"type": "number", "minimum": low, "maximum": high}:
            return f"a number from {low:g} to {high:,.0f}"
        case {"minimum": low, "maximum": high}:
            return f"a whole number from {low} to {high}"
        case {"minimum": low}:
            return f"a whole number, at least {low}"
        case {"exclusiveMinimum": low}:
            return f"a number above {low:g}"
        case _:
            plain = {"boolean": "true or false", "path": "a path"}
            return plain.get(schema.get("format", schema["type"]), "a text")


def _from_environment(environ: Mapping[str, str]) -> dict[str, _Given]:
    _refuse_unknown_variables(environ)
    found: dict[str, _Given] = {}
    for name in Settings.model_fields:
        variables = [PREFIX + name.upper()]
        if name == "database_url":
            variables.append("DATABASE_URL")
        # An empty variable is an unset one: that is how compose files and units pass "none".
        for variable in [variable for variable in variables if environ.get(variable)][:1]:
            found[name] = _Given(
                _read_variable(name, environ[variable]), f"environment {variable}", variable
            )
    return found


def _refuse_unknown_variables(environ: Mapping[str, str]) -> None:
    known = [*(PREFIX + name.upper() for name in Settings.model_fields), *OTHER_VARIABLES]
    unknown = [
        name
        for name in environ
        if name.startswith(PREFIX) and name not in known and not KUBERNETES.fullmatch(name)
    ]
    if unknown:
        raise Invalid(
            "; ".join(
                f"the environment sets {name}, which is no setting{_close(name, known)}"
                for name in sorted(unknown)
            )
        )


def _read_variable(name: str, text: str) -> object:
    if get_origin(Settings.model_fields[name].annotation) is not dict:
        return text
    pairs = [pair.partition("=") for pair in text.split(",") if pair.strip()]
    return {key.strip(): value.strip() for key, _, value in pairs}


def _from_file(file: Path) -> dict[str, _Given]:
    found: dict[str, _Given] = {}
    for name, line, raw in _read_yaml(file):
        where = f"{file}:{line}"
        if name not in Settings.model_fields:
            raise Invalid(f"{where}: {name} is no setting{_close(name, Settings.model_fields)}")
        if name in found:
            raise Invalid(f"{where}: {name} is set twice (first in {found[name].origin})")
        if not _is_plain(raw):
            raise Invalid(
                f"{where}: {name} should be {describe_allowed(name)}, not a list or a group"
            )
        if raw:
            found[name] = _Given(_beside(file, name, raw), where, f"{where}: {name}")
    return found


def _read_yaml(file: Path) -> list[tuple[str, int, object]]:
    """Name, line and text of each setting. Texts, so that `on` and `1_0` mean what they say."""
    import yaml  # Most starts have no file to read.

    try:
        tree = cast(Any, yaml).compose(file.read_text(encoding="utf-8"), yaml.BaseLoader)
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 1
        raise Invalid(f"{file}:{line}: not YAML: {error.problem}") from error
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise Invalid(f"{file}: not YAML: {error}") from error
    except OSError as error:
        raise Invalid(f"{file} cannot be read: {error.strerror}") from error
    if tree is not None and tree.id != "mapping":
        raise Invalid(f"{file}:1: not settings: each line is `name: value`")
    pairs: list[Any] = [] if tree is None else tree.value
    return [(str(_plain(key)), key.start_mark.line + 1, _plain(value)) for key, value in pairs]


def _plain(node: Any) -> object:
    if node.id == "mapping":
        return {str(_plain(key)): _plain(value) for key, value in node.value}
    return [_plain(value) for value in node.value] if node.id == "sequence" else node.value


def _is_plain(raw: object) -> bool:
    parts = cast(dict[str, object], raw).values() if isinstance(raw, dict) else [raw]
    return all(isinstance(part, str) for part in parts)


def _beside(file: Path, name: str, raw: object) -> object:
    """A relative path in a file starts where the file is, not where the command was called."""
    if isinstance(raw, str) and describe_allowed(name) == "a path":
        return str(file.parent / os.path.expanduser(raw))
    return raw


def _explain(error: ValidationError, given: Mapping[str, _Given]) -> list[str]:
    lines: list[str] = []
    for problem in error.errors():
        name, *inner = cast(tuple[str, ...], problem["loc"])
        # The wrong text helps to find it, but a URL may hold a password.
        wrong = "" if name.endswith("_url") else f", not {_quoted(problem['input'])}"
        part = f" ({inner[0]})" if inner else ""
        lines.append(f"{given[name].label}{part} should be {describe_allowed(name)}{wrong}")
    return lines


def _quoted(wrong: object) -> str:
    return ascii(wrong) if isinstance(wrong, str) else "a list or a group"


def _close(name: str, known: Mapping[str, object] | list[str]) -> str:
    close = difflib.get_close_matches(name, known, n=1)
    return f": did you mean {close[0]}?" if close else ""
