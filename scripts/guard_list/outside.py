"""Guards of calls to other machines: addresses, sizes, robots.txt, politeness, the budget."""

from __future__ import annotations

from scripts.guard_list.guard import Guard, guard

ADDRESSES = "jobmill/outside/public_addresses.py"
FETCH = "jobmill/outside/fetch.py"
GUARD = "jobmill/outside/guarded_transport.py"
LEDGER = "jobmill/outside/budget_ledger.py"
POLITENESS = "jobmill/outside/rate_limits.py"

URLS = "tests/outside/test_public_addresses.py"
CALLS = "tests/outside/test_fetch.py"
TURNS = "tests/outside/test_rate_limits.py"
BUDGET = "tests/outside/test_budget_ledger.py"

GUARDS: list[Guard] = [
    guard(
        "a URL names no address that is not public",
        ADDRESSES,
        "    elif not is_public(address):\n",
        "    elif False:\n",
        f"{URLS}::test_a_url_that_is_not_public_is_refused",
    ),
    guard(
        "an address in disguise is refused",
        ADDRESSES,
        "if _NUMBER.fullmatch(labels[-1]):",
        "if False:",
        f"{URLS}::test_a_url_that_is_not_public_is_refused",
    ),
    guard(
        "an IPv4 address inside an IPv6 one is checked",
        ADDRESSES,
        "return is_public(IPv4Address(int(address) & 0xFFFFFFFF))",
        "return True",
        f"{URLS}::test_addresses_from_a_resolver_are_checked",
    ),
    guard(
        "a host with one private address is refused",
        GUARD,
        "not all(map(is_public_text, addresses))",
        "not any(map(is_public_text, addresses))",
        "tests/outside/test_guarded_transport.py::test_one_private_address_is_enough_to_refuse",
    ),
    guard(
        "the address that was checked is the one connected to",
        GUARD,
        "                    address, port, timeout, local_address, socket_options",
        "                    host, port, timeout, local_address, socket_options",
        "tests/outside/test_guarded_transport.py::test_the_address_that_was_checked_is_the_one_connected_to",
    ),
    guard(
        "ports are checked before a connection",
        GUARD,
        "        check_host(host, port, self.private)\n",
        "",
        "tests/outside/test_guarded_transport.py::test_ports_and_names_are_checked_before_any_lookup",
    ),
    guard(
        "a redirect is checked like a first URL",
        FETCH,
        "target = parse_url(url, self._guard.private)\n        if hop.method",
        'target = replace(hop.target, url=url, host=httpx2.URL(url).host or "x.example")\n'
        "        if hop.method",
        f"{CALLS}::test_a_redirect_to_a_private_address_is_refused",
    ),
    guard(
        "redirects end",
        FETCH,
        "if len(visited) > MAX_REDIRECTS or",
        "if",
        f"{CALLS}::test_five_redirects_are_followed_and_six_are_too_many",
    ),
    guard(
        "secrets stay with the host they are for",
        FETCH,
        "    return requested.origin == target.origin or upgraded\n",
        "    return True\n",
        f"{CALLS}::test_secret_headers_are_sent_only_to_their_host",
    ),
    guard(
        "a body is cut at the byte limit",
        "jobmill/outside/content_encoding.py",
        "yield piece[:room]\n            if self._left < 0:",
        "yield piece\n            if False:",
        f"{CALLS}::test_a_request_can_lower_the_size_limit",
    ),
    guard(
        "bytes on the wire are limited too",
        "jobmill/outside/http_exchange.py",
        "if raw > self._limits.raw_bytes:",
        "if False:",
        f"{CALLS}::test_compressed_bytes_without_content_count_too",
    ),
    guard(
        "a whole exchange has a time limit",
        "jobmill/outside/http_exchange.py",
        "async with asyncio.timeout(self._limits.seconds):",
        "async with asyncio.timeout(None):",
        f"{CALLS}::test_the_total_time_of_a_request_is_limited",
    ),
    guard(
        "robots.txt is heeded",
        "jobmill/outside/robots.py",
        "        if allowed:\n            return None",
        "        if True:\n            return None",
        "tests/outside/test_robots.py::test_robots_txt_is_obeyed_under_our_own_name",
    ),
    guard(
        "a robots.txt that cannot be read forbids its pages",
        "jobmill/outside/robots.py",
        "        case _:\n            return None",
        '        case _:\n            return ""',
        "tests/outside/test_robots.py::test_an_unreadable_robots_txt_blocks_with_its_own_cause",
    ),
    guard(
        "calls to a host keep an interval",
        POLITENESS,
        "FROM (SELECT greatest(host.last_start_at + greatest(host.crawl_delay, %(interval)s),",
        "FROM (SELECT greatest(host.last_start_at,",
        f"{TURNS}::test_requests_start_one_interval_apart",
    ),
    guard(
        "calls to a host at the same time are limited",
        POLITENESS,
        "WHERE until > excluded.last_start_at) < %(max_concurrent)s",
        "WHERE until > excluded.last_start_at) < 1000",
        f"{TURNS}::test_concurrent_requests_to_a_host_are_limited",
    ),
    guard(
        "a host that asks for quiet is left alone",
        POLITENESS,
        "host.held_until, excluded.last_start_at) AS at) AS next)",
        "excluded.last_start_at) AS at) AS next)",
        f"{TURNS}::test_a_hold_lasts_as_long_as_the_host_says",
    ),
    guard(
        "a hold is never shortened",
        POLITENESS,
        "held_until = greatest(held_until, clock_timestamp()",
        "held_until = greatest(clock_timestamp()",
        f"{TURNS}::test_a_hold_is_never_shortened",
    ),
    guard(
        "a hold counts for callers that already wait",
        POLITENESS,
        "        return not on_hold\n",
        "        return True\n",
        f"{TURNS}::test_a_hold_applies_to_callers_already_waiting",
    ),
    guard(
        "the budget is read under a lock",
        LEDGER,
        '"SELECT 1 FROM budget.allowance FOR UPDATE"',
        '"SELECT 1 FROM budget.allowance"',
        f"{BUDGET}::test_concurrent_reservations_wait_for_each_other",
    ),
    guard(
        "a reservation counts against the day",
        LEDGER,
        "coalesce(sum(counted) FILTER (WHERE at >= (SELECT day FROM this)), 0) AS day",
        "coalesce(sum(cost) FILTER (WHERE at >= (SELECT day FROM this)), 0) AS day",
        f"{BUDGET}::test_a_reservation_counts_until_it_is_settled",
    ),
    guard(
        "a call is settled once",
        LEDGER,
        "WHERE id = %(id)s AND settled_at IS NULL",
        "WHERE id = %(id)s",
        f"{BUDGET}::test_settling_a_call_again_changes_nothing",
    ),
]
