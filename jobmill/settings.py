"""Settings: `JOBMILL_*` environment variables override `jobmill.yaml`, which overrides the defaults."""

from __future__ import annotations

import difflib
import ipaddress
import os
import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Annotated, Any, Literal, TypeAlias, cast, get_origin

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
from jobmill.time_zones import UTC, load_time_zone
from jobmill.trusted_files import distrust_reason

PREFIX = "JOBMILL_"
FILE = "jobmill.yaml"
OTHER_VARIABLES = ("JOBMILL_CONFIG", "JOBMILL_DEBUG", "JOBMILL_TEST_DATABASE_URL")
PROGRAMS = ("postgres_bin", "chromium")
"""Settings that name programs to run."""
CONNECTION_STRINGS = ("database_url", "database_direct_url")
"""Settings whose connection string may contain a password: never print them unredacted."""
KUBERNETES = re.compile(r"JOBMILL_(SERVICE_(HOST|PORT)(_.*)?|PORT(_\d+_.*)?)")
"""Variables that Kubernetes sets in every pod next to a service named jobmill; they are not settings."""

HOST_NAME = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9.-]{0,251}[A-Za-z0-9])?|[0-9a-fA-F:]+")
HOST_PORT = re.compile(r"(?:[^\s:,/@]+|\[[0-9a-fA-F:]+\]):(\d{1,5})")


def _postgres_url(text: str) -> str:
    if not text:
        return text
    import psycopg  # Imported here, because commands without a database start faster without it.
    from psycopg.conninfo import conninfo_to_dict

    is_url = text.startswith(("postgresql://", "postgres://"))
    try:
        parameters = conninfo_to_dict(text)
    except psycopg.ProgrammingError:
        # Do not show the parser's message: it quotes a part of the text, which may be a password.
        raise ValueError("not a PostgreSQL connection string") from None
    if not (is_url or parameters):
        raise ValueError("not a PostgreSQL connection string")
    return text


def _time_zone(name: str) -> str:
    try:
        load_time_zone(name)
    except Invalid as error:
        raise ValueError(str(error)) from error
    return name


TimeZone = Annotated[str, AfterValidator(_time_zone)]
PostgresUrl = Annotated[str, AfterValidator(_postgres_url)]
"""Either form that libpq accepts: postgresql://host/name or host=… dbname=…"""


def _header_text(text: str) -> str:
    if not text.isascii() or not text.isprintable() or text != text.strip():
        raise ValueError("not a valid header value")
    return text


def _host_ports(text: str) -> str:
    for part in text.split(",") if text else []:
        _host_port(part.strip())
    return text


def _host_port(text: str) -> str:
    match = HOST_PORT.fullmatch(text)
    if not (match and 0 < int(match[1]) < 65_536):
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
    """The parts of a comma-separated setting."""
    return [part.strip() for part in text.split(",")] if text else []


MODEL = re.compile(r"none|(?:anthropic|openai|ollama):[!-~]+")
BASE_URL = re.compile(r"https?://[^\s/@?#]+(?:/[^\s@?#]*)?")
START_RATE = re.compile(r"([1-9]\d{0,6})/(\d{1,6}(?:\.\d{1,3})?)s")
PRICE = re.compile(r"\d{1,6}(?:\.\d{1,6})?/\d{1,6}(?:\.\d{1,6})?")


def _model(text: str) -> str:
    if not MODEL.fullmatch(text):
        raise ValueError("not a model")
    return text


def _models(text: str) -> str:
    for name in split_list(text):
        if name == "none" or not MODEL.fullmatch(name):
            raise ValueError("not models")
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


def _smtp_url(secret: SecretStr) -> SecretStr:
    url = secret.get_secret_value()
    match = SMTP_URL.fullmatch(url)
    if url and not (match and 0 < int(match[2] or 25) < 65_536):
        raise ValueError("not a URL of a mail server")
    return secret


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


def _start_rate(text: str) -> str:
    match = START_RATE.fullmatch(text)
    if not (match and float(match[2])):
        raise ValueError("not a start rate")
    return text


def parse_start_rate(text: str) -> tuple[int, float]:
    """Starts and seconds of a start rate such as `3/5s`."""
    starts, _, seconds = text.removesuffix("s").partition("/")
    return int(starts), float(seconds)


UserPath = Annotated[Path, AfterValidator(lambda path: Path(os.path.expanduser(path)))]
HeaderText = Annotated[str, AfterValidator(_header_text)]
HostNames = Annotated[str, AfterValidator(_host_names)]
Networks = Annotated[str, AfterValidator(_networks)]
HostPorts = Annotated[str, AfterValidator(_host_ports)]
HostPort = Annotated[str, AfterValidator(_host_port)]
Count = Annotated[int, Field(ge=1, le=10_000_000)]
ModelName = Annotated[str, AfterValidator(_model)]
ModelNames = Annotated[str, AfterValidator(_models)]
BaseUrl = Annotated[str, AfterValidator(_base_url)]
StartRateText = Annotated[str, AfterValidator(_start_rate)]
LogLevel: TypeAlias = Literal["debug", "info", "warning", "error"]
TwoPrices = Annotated[str, AfterValidator(_price)]
SmtpUrl = Annotated[SecretStr, AfterValidator(_smtp_url)]
Sender = Annotated[str, AfterValidator(_sender)]
PublicUrl = Annotated[str, AfterValidator(_public_url)]
Dollars = Annotated[float, Field(ge=0, le=1_000_000, allow_inf_nan=False)]


class Settings(BaseModel):
    """`Settings()` has the defaults; `load` reads the values that the operator set."""

    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)

    database_url: PostgresUrl = Field(default="", repr=False)
    """The PostgreSQL database to use (version 15 or newer). Empty: Jobmill starts its bundled server.
    The variable DATABASE_URL sets it too."""

    database_pooler: Literal["none", "transaction"] = "none"
    """Whether `database_url` names a connection pooler in transaction mode, such as PgBouncer.
    Only the web pages connect through the pooler; everything else uses `database_direct_url`."""

    database_direct_url: PostgresUrl = Field(default="", repr=False)
    """How to reach the same database without the pooler. Required if `database_pooler` is
    `transaction`."""

    data_dir: UserPath = Field(default_factory=lambda: platformdirs.user_data_path("jobmill"))
    """The folder in which the bundled PostgreSQL stores its data."""

    postgres_bin: UserPath | None = None
    """The folder of the PostgreSQL programs. Empty: the bundled ones."""

    migration_backup: bool = True
    """Whether a new version of Jobmill backs up the database to `backups` in data_dir before it changes
    tables. The last three of these backups are kept."""

    postgres_connections: Annotated[int, Field(ge=10, le=10_000)] = 100
    """How many connections the bundled PostgreSQL allows."""

    web_host: str = "127.0.0.1"
    """The address to serve the web pages on. If other machines can reach it, people must sign in."""

    web_port: Annotated[int, Field(ge=0, le=65_535)] = 8000
    """The port to serve the web pages on; 0 picks a free one."""

    web_names: HostNames = ""
    """Host names and addresses under which the pages are reached, besides web_host. If set, people must
    sign in."""

    trusted_proxies: Networks = ""
    """Reverse proxies whose X-Forwarded-For and X-Forwarded-Proto headers are trusted. If set, people must
    sign in."""

    public_requests_per_minute: Count = 60
    """How many requests per minute one IP address may make to each page that needs no sign-in."""

    session_idle_hours: Annotated[int, Field(ge=1, le=336)] = 24
    """After how many hours without use people are signed out; at the latest after 14 days."""

    log_level: LogLevel = "info"
    """The lowest level of messages to log. At `info`, workers log the start, each step and the end of every
    task."""

    log_format: Literal["text", "json"] = "text"
    """Log lines as text, or as one JSON object per line."""

    log_statistics_level: LogLevel = "info"
    """The level at which workers log how many tasks wait and run, every 60 seconds."""

    log_health_level: LogLevel = "info"
    """The level at which workers log the state of workers, processors and alerts, every 30 seconds."""

    poll_only: bool = False
    """Poll for tasks once a second instead of waiting for notifications (LISTEN). A connection pooler
    in transaction mode does not need this: see `database_pooler`."""

    processors: Count = 10
    """How many tasks of a step one worker process runs at the same time."""

    processors_by_phase: dict[str, Count] = Field(default_factory=dict)
    """The number of processors for individual steps, such as `company/extract`."""

    start_rate_by_phase: dict[str, StartRateText] = Field(default_factory=dict)
    """How many tasks of individual steps may start in a number of seconds, over all workers: `3/5s` starts
    at most three every five seconds."""

    queue_capacity: Count = 1000
    """How many tasks may wait in a step before new ones are refused."""

    max_retries: Annotated[int, Field(ge=0, le=1_000)] = 3
    """How often a failed task is retried before it ends as failed."""

    max_spawn_depth: Annotated[int, Field(ge=0, le=1_000)] = 10
    """How many generations of tasks may descend from one task."""

    run_limit_seconds: Annotated[float, Field(gt=0, allow_inf_nan=False)] = 300
    """How long one attempt of a task may run, in seconds."""

    keep_finished_days: Count = 30
    """How many days to keep finished tasks."""

    keep_closed_days: Count = 180
    """How many days to keep jobs after they have closed; jobs that a person marked are kept for good."""

    rotation_policy: Literal["yield", "seed"] = "yield"
    """How sources are chosen: `yield` by the number of new jobs that a read is expected to find, `seed` by
    fixed intervals and staleness only."""

    rotation_calls_per_day: Annotated[float, Field(ge=0, le=10_000_000, allow_inf_nan=False)] = 1200
    """How many sources to read per day under the policy `yield`; 0 stops scheduled reads."""

    max_company_targets_per_run: Count = 50
    """How many boards of one platform a run reads."""

    max_search_slices_per_run: Count = 50
    """How many searches and feeds a run reads, over all platforms."""

    greenhouse_max_boards_per_run: Count | None = None
    """How many Greenhouse boards a run reads, if not as many as of other platforms."""

    lever_max_companies_per_run: Count | None = None
    """How many Lever boards a run reads, if not as many as of other platforms."""

    user_agent: Annotated[HeaderText, Field(min_length=1)] = "jobmill (self-hosted job search)"
    """The User-Agent header sent to other sites (ASCII). Its first word is the name looked up in robots.txt."""

    contact: HeaderText = ""
    """A page or an email address where site operators can reach you; sent with the User-Agent."""

    host_interval_seconds: Annotated[float, Field(gt=0, le=3_600, allow_inf_nan=False)] = 1
    """Seconds between the starts of two requests to the same host, over all workers."""

    host_calls: Annotated[int, Field(ge=1, le=100)] = 3
    """How many requests to one host may run at the same time, over all workers."""

    private_hosts: HostPorts = ""
    """Hosts that may be contacted although they are not public, for tests and demos. Never set it if
    people you do not trust can enter URLs."""

    host_overrides: dict[str, HostPort] = Field(default_factory=dict)
    """Servers that answer by plain HTTP in place of public hosts (`*.acme.example` for all subdomains),
    for tests and demos. Never set it if people you do not trust can enter URLs."""

    chromium: UserPath | None = None
    """The browser for pages that need JavaScript. Empty: `$CHROMIUM`, or else Chromium in the PATH."""

    model_cheap: ModelName = "anthropic:claude-haiku-5-5"
    """The model for reading text. Without its API key (ANTHROPIC_API_KEY or OPENAI_API_KEY in the
    environment, or a key saved on the Settings page) no model is used."""

    model_strong: ModelName = "anthropic:claude-sonnet-5-5"
    """The model for reviewing matches."""

    company_model: Literal["cheap", "strong", "none"] = "strong"
    """Which of the two models reads company pages; `none` uses rules only."""

    anthropic_base_url: BaseUrl = "https://api.anthropic.com"
    """The server for models named anthropic:…; it may be private, and receives the API key."""

    openai_base_url: BaseUrl = "https://api.openai.com/v1"
    """The server for models named openai:…; any OpenAI-compatible server works."""

    ollama_base_url: BaseUrl = "http://127.0.0.1:11434/v1"
    """The server for models named ollama:…"""

    model_streaming: bool = False
    """Whether to stream answers, for proxies that close silent connections."""

    model_prices: dict[str, TwoPrices] = Field(default_factory=dict)
    """US dollars per million input and output tokens, for models whose price is unknown or different for
    you."""

    budget_call: Dollars = 0.25
    """The most that one model call may cost, in US dollars. 0 in any of the four budgets: no paid calls."""

    budget_run: Dollars = 1.00
    """The most that all model calls for one submitted task and its descendants may cost."""

    budget_day: Dollars = 1.00
    """The most that all model calls of a day (UTC) may cost."""

    budget_month: Dollars = 20.00
    """The most that all model calls of a month (UTC) may cost."""

    budget_spent_out: Literal["block", "local"] = "block"
    """What happens when the budget of the day or month is spent: `block` waits for the next one, `local`
    continues without a model."""

    report_models: ModelNames = ""
    """The models that website reports ask, such as `anthropic:…,openai:…`. Empty: model_cheap and
    model_strong."""

    report_runs: Annotated[int, Field(ge=1, le=50)] = 5
    """How often a website report asks each question, as far as the budget allows: answers vary from run to
    run."""

    report_prompts: Annotated[int, Field(ge=1, le=50)] = 7
    """How many questions a website report asks."""

    report_keep_days: Annotated[int, Field(ge=0, le=36_500)] = 0
    """How many days to keep website reports after they ended; 0 keeps them for good."""

    report_pages: Annotated[int, Field(ge=1, le=200)] = 25
    """How many pages of a site a website report reads."""

    smtp_url: SmtpUrl = SecretStr("")
    """The mail server for messages to applicants, such as smtp://user:password@host:587 (a password is sent
    only over TLS) or smtps://…. Empty: no mail is sent."""

    mail_from: Sender = ""
    """The sender of messages: an address, or `Name <address>`."""

    public_url: PublicUrl = ""
    """The URL under which applicants reach the web pages, used for links in messages. Empty: http:// with
    web_host and web_port."""

    apprise: bool = False
    """Whether admins may add notification channels of the library Apprise, an optional extra. It sends its own
    requests, also to private addresses, so its channels bypass the protection that all other requests have."""

    letters_dir: UserPath | None = None
    """A folder with your own message templates; the built-in ones are used for the others."""

    time_zone: TimeZone = UTC
    """The time zone of new openings, in which emails show times; each opening can have its own."""

    fold_email_aliases: bool = False
    """Whether aliases of one mailbox (ada+jobs@…, and dots at Gmail) count as one applicant."""

    applications_per_person_per_day: Annotated[int, Field(ge=0, le=10_000)] = 0
    """How often one person may apply within a day; 0 means without limit."""

    applications_per_opening_per_hour: Annotated[int, Field(ge=0, le=10_000_000)] = 600
    """How many people may apply for one opening within an hour without signing in; 0 means without limit.
    The three limits of this kind are shared by all web processes."""

    applications_per_network_per_hour: Annotated[int, Field(ge=0, le=10_000_000)] = 60
    """How many applications may come from one network (IPv4 /24, IPv6 /48) within an hour; 0 means without
    limit."""

    applications_per_domain_per_hour: Annotated[int, Field(ge=0, le=10_000_000)] = 60
    """How many applications with addresses of one domain are taken within an hour; 0 means without limit.
    Domains of free mail providers are not limited."""

    confirm_address: Literal["before", "within", "off"] = "before"
    """Whether applicants must confirm their address by a link in an email: `before` they take a place,
    `within` confirm_hours after they took it, or not at all (`off`). Without a mail server nobody must."""

    confirm_hours: Annotated[int, Field(ge=1, le=720)] = 24
    """How many hours applicants have to confirm their address."""

    proof_of_work_bits: Annotated[int, Field(ge=0, le=24)] = 0
    """How much a browser computes before it sends an application: each bit doubles it, 16 takes about two
    seconds; 0 turns it off. Applications without it, as from browsers without JavaScript, are limited to
    a few per network and hour."""


def public_base_url(settings: Settings) -> str:
    """The base of every link to this installation, without a trailing slash."""
    host = f"[{settings.web_host}]" if ":" in settings.web_host else settings.web_host
    return settings.public_url or f"http://{host}:{settings.web_port}"


class _RawValue:
    """A value as the operator wrote it, and where."""

    def __init__(self, raw: object, origin: str, label: str) -> None:
        self.raw = raw
        self.origin = origin
        self.label = label


def load(
    environ: Mapping[str, str] | None = None, folder: Path | None = None
) -> tuple[Settings, dict[str, str]]:
    """The settings, and where each of them was set; Invalid lists every wrong value."""
    environ = os.environ if environ is None else environ
    file = find_file(environ, folder)
    values = _from_file(file) if file else {}
    if file and not environ.get("JOBMILL_CONFIG") and file.parent == (folder or Path.cwd()):
        _refuse_programs(values)
    values |= _from_environment(environ)
    try:
        settings = Settings.model_validate_strings(
            {name: value.raw for name, value in values.items()}
        )
    except ValidationError as error:
        raise Invalid("; ".join(_explain(error, values))) from None
    _check_pooler(settings)
    origins = {name: "default" for name in Settings.model_fields}
    return settings, origins | {name: value.origin for name, value in values.items()}


def parse_value(name: str, text: str) -> object:
    """The value of one setting; Invalid if the text does not fit."""
    value = _RawValue(_read_variable(name, text), "", name)
    try:
        return getattr(Settings.model_validate_strings({name: value.raw}), name)
    except ValidationError as error:
        raise Invalid("; ".join(_explain(error, {name: value}))) from None


def _refuse_programs(values: Mapping[str, _RawValue]) -> None:
    """A file in the current folder may have come with a download, so it starts no programs."""
    for name in PROGRAMS:
        if name in values:
            raise Invalid(
                f"{values[name].label} names a program, which a settings file in the current folder "
                f"may not do: set it in {search_paths()[-1]} or as {PREFIX}{name.upper()}"
            )


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
    """The settings file, if there is one."""
    environ = os.environ if environ is None else environ
    chosen = environ.get("JOBMILL_CONFIG")
    if chosen:
        file = Path(os.path.expanduser(chosen)).absolute()
        if not file.is_file():
            raise Invalid(f"JOBMILL_CONFIG names {file}, which is not a file")
        return file
    return next((file for file in search_paths(folder) if file.is_file()), None)


def search_paths(folder: Path | None = None) -> list[Path]:
    """Where a settings file may be; the first existing one is used."""
    return [(folder or Path.cwd()) / FILE, platformdirs.user_config_path("jobmill") / FILE]


_DATABASE = "a URL that starts with postgresql://, or pairs such as host=a,b dbname=jobmill"
_URL = "a URL that starts with http:// or https://, without a password"
_MODEL = "anthropic:MODEL or openai:MODEL or ollama:MODEL or none"
_ALLOWED = {
    "database_url": _DATABASE,
    "database_direct_url": _DATABASE,
    "web_names": "host,host",
    "trusted_proxies": "address,address (or networks, as 10.0.0.0/8)",
    "private_hosts": "host:port,host:port",
    "host_overrides": "host=host:port,host=host:port",
    "model_cheap": _MODEL,
    "model_strong": _MODEL,
    "report_models": "PROVIDER:MODEL,PROVIDER:MODEL, where a provider is anthropic, openai or ollama",
    "start_rate_by_phase": "phase=STARTS/SECONDSs,phase=STARTS/SECONDSs, such as company/fetch=3/5s",
    "model_prices": "model=IN/OUT,model=IN/OUT",
    "anthropic_base_url": _URL,
    "openai_base_url": _URL,
    "ollama_base_url": _URL,
    "smtp_url": "a URL that starts with smtp:// or smtps://",
    "mail_from": "an address, or a name followed by an address in angle brackets",
    "public_url": _URL,
    "time_zone": "an IANA name such as Europe/Berlin",
}


def describe_allowed(name: str) -> str:
    """Describe the values that a setting accepts."""
    if name in _ALLOWED:
        return _ALLOWED[name]
    return _describe_schema(_schema()["properties"][name])


@cache
def _schema() -> dict[str, Any]:
    return Settings.model_json_schema()


def _describe_schema(schema: dict[str, Any]) -> str:
    match schema:
        case {"anyOf": [first, *_]}:
            return _describe_schema(first)
        case {"enum": choices}:
            return " or ".join(choices)
        case {"additionalProperties": inner}:
            return f"phase=N,phase=N, each {_describe_schema(inner)}"
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


def _from_environment(environ: Mapping[str, str]) -> dict[str, _RawValue]:
    _refuse_unknown_variables(environ)
    values: dict[str, _RawValue] = {}
    for name in Settings.model_fields:
        variables = [PREFIX + name.upper()]
        if name == "database_url":
            variables.append("DATABASE_URL")
        # An empty variable counts as unset, because compose files and units pass unset values that way.
        for variable in [variable for variable in variables if environ.get(variable)][:1]:
            values[name] = _RawValue(
                _read_variable(name, environ[variable]), f"environment {variable}", variable
            )
    return values


def _refuse_unknown_variables(environ: Mapping[str, str]) -> None:
    allowed = [*(PREFIX + name.upper() for name in Settings.model_fields), *OTHER_VARIABLES]
    unknown = [
        name
        for name in environ
        if name.startswith(PREFIX) and name not in allowed and not KUBERNETES.fullmatch(name)
    ]
    if unknown:
        raise Invalid(
            "; ".join(
                f"the environment sets {name}, which is not a setting{_suggest(name, allowed)}"
                for name in sorted(unknown)
            )
        )


def _read_variable(name: str, text: str) -> object:
    if get_origin(Settings.model_fields[name].annotation) is not dict:
        return text
    pairs = [pair.partition("=") for pair in text.split(",") if pair.strip()]
    return {key.strip(): value.strip() for key, _, value in pairs}


def _from_file(file: Path) -> dict[str, _RawValue]:
    reason = distrust_reason(file)
    if reason:
        raise Invalid(
            f"{file} is not read, because {reason}: make the file and its folder yours and writable "
            "for you only (chown, chmod go-w), or use environment variables"
        )
    values: dict[str, _RawValue] = {}
    for name, line, raw in _read_yaml(file):
        where = f"{file}:{line}"
        if name not in Settings.model_fields:
            suggestion = _suggest(name, Settings.model_fields)
            raise Invalid(f"{where}: {name} is not a setting{suggestion}")
        if name in values:
            raise Invalid(f"{where}: {name} is set twice (first in {values[name].origin})")
        if not _is_plain(raw):
            raise Invalid(
                f"{where}: {name} should be {describe_allowed(name)}, not a list or a group"
            )
        if raw:
            path = _resolve_path(file, name, raw)
            values[name] = _RawValue(path, where, f"{where}: {name}")
    return values


def _read_yaml(file: Path) -> list[tuple[str, int, object]]:
    """Name, line and text of each setting. Text, so that YAML does not reinterpret `on` and `1_0`."""
    import yaml  # Imported here, because most installations have no settings file.

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
        raise Invalid(f"{file}:1: not a settings file: each line must be `name: value`")
    pairs: list[Any] = [] if tree is None else tree.value
    return [(str(_plain(key)), key.start_mark.line + 1, _plain(value)) for key, value in pairs]


def _plain(node: Any) -> object:
    if node.id == "mapping":
        return {str(_plain(key)): _plain(value) for key, value in node.value}
    return [_plain(value) for value in node.value] if node.id == "sequence" else node.value


def _is_plain(raw: object) -> bool:
    parts = cast(dict[str, object], raw).values() if isinstance(raw, dict) else [raw]
    return all(isinstance(part, str) for part in parts)


def _resolve_path(file: Path, name: str, raw: object) -> object:
    """Make a path in a settings file relative to that file, not to the working directory."""
    if isinstance(raw, str) and describe_allowed(name) == "a path":
        return str(file.parent / os.path.expanduser(raw))
    return raw


def _explain(error: ValidationError, values: Mapping[str, _RawValue]) -> list[str]:
    lines: list[str] = []
    for problem in error.errors():
        name, *inner = cast(tuple[str, ...], problem["loc"])
        # The wrong text helps to find the mistake, but a URL may contain a password.
        wrong = "" if name.endswith("_url") else f", not {_quoted(problem['input'])}"
        part = f" ({inner[0]})" if inner else ""
        lines.append(f"{values[name].label}{part} should be {describe_allowed(name)}{wrong}")
    return lines


def _quoted(wrong: object) -> str:
    return ascii(wrong) if isinstance(wrong, str) else "a list or a group"


def _suggest(name: str, names: Mapping[str, object] | list[str]) -> str:
    matches = difflib.get_close_matches(name, names, n=1)
    return f": did you mean {matches[0]}?" if matches else ""
