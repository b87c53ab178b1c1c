"""Guards of the API, its client and the tools for assistants."""

from __future__ import annotations

from scripts.guard_list.guard import Guard, guard

CONVENTIONS = "tests/web/api/test_search_conventions.py"
CLIENT = "tests/client/test_client.py"
MCP = "tests/mcp_server/test_mcp_server.py"
MARKED = f"{MCP}::test_the_text_of_a_posting_is_marked_and_cannot_end_its_mark"

GUARDS: list[Guard] = [
    guard(
        "assistants get changing tools only by name",
        "jobmill/mcp_server/server.py",
        "if not tool.changes or tool.name in allowed:",
        "if tool.name:",
        f"{MCP}::test_only_reading_tools_are_offered_unless_others_are_allowed",
    ),
    guard(
        "texts cannot pretend to end",
        "jobmill/mcp_server/untrusted_text.py",
        "boundary = secrets.token_hex(8)",
        'boundary = "python"',
        f"{MCP}::test_the_mark_differs_every_time",
    ),
    guard(
        "assistants see no invisible characters",
        "jobmill/mcp_server/untrusted_text.py",
        'char.isprintable() or char in "\\n\\t"',
        "char",
        MARKED,
    ),
    guard(
        "quotes of websites in reports are marked",
        "jobmill/mcp_server/tools.py",
        '"findings": _mark_json(detail.findings),',
        '"findings": json.dumps(detail.findings),',
        f"{MCP}::test_an_assistant_reads_a_report_whose_quotes_are_marked",
    ),
    guard(
        "callers over HTTP bring a key",
        "jobmill/mcp_server/caller_keys.py",
        'if scheme.lower() != "bearer" or not key.strip():',
        "if scheme is None:",
        f"{MCP}::test_over_http_every_caller_brings_a_key",
    ),
    guard(
        "the client repeats a change with its key",
        "jobmill/client/transport.py",
        'headers["Idempotency-Key"] = uuid4().hex',
        "pass",
        f"{CLIENT}::test_a_change_is_repeated_with_its_key_until_it_is_answered",
    ),
    guard(
        "If-Match reaches the profile",
        "jobmill/web/api/job_search/profiles.py",
        "based_on=based_on",
        "based_on=None",
        f"{CONVENTIONS}::test_the_etag_of_a_versioned_thing_protects_its_change",
    ),
    guard(
        "API keys do not give access",
        "jobmill/web/access_rights.py",
        'PEOPLE_PATHS = ("/people", "/api/people", "/api/keys")',
        'PEOPLE_PATHS = ("/people",)',
        f"{CLIENT}::test_what_an_admin_cannot_do_with_a_key_says_what_to_do",
    ),
    guard(
        "secrets of sources stay hidden",
        "jobmill/web/api/system/sources.py",
        'config=source_secrets.redact_config("", source.config),',
        "config=source.config,",
        f"{CONVENTIONS}::test_secrets_of_a_source_are_not_shown",
    ),
    guard(
        "a search key does not open the system",
        "jobmill/web/access_rights.py",
        '"search": {"search": "change"},\n    "hiring"',
        '"search": ALL_RIGHTS,\n    "hiring"',
        f"{CONVENTIONS}::test_a_search_key_changes_the_job_search_of_its_owner_and_nothing_else",
    ),
]
