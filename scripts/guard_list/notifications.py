"""Guards of notifications: told once, sent once, to the right person."""

from __future__ import annotations

from scripts.guard_list.guard import Guard, guard

CHANNELS = "jobmill/notifications/channels.py"
DELIVERIES = "jobmill/notifications/deliveries.py"
PIPELINE = "jobmill/pipelines/notifications.py"
SCHEMA = "jobmill/db/migrations/0049_notifications.sql"

CAUSES = "tests/notifications/test_causes.py"
PAGE = "tests/web/test_notifications_page.py"
PLANNING = "tests/notifications/test_planning.py"
SENDING = "tests/notifications/test_sending.py"

GUARDS: list[Guard] = [
    guard(
        "a delivery that a dead worker may have sent is not sent again",
        PIPELINE,
        "    if delivery.may_have_arrived:\n",
        "    if False:\n",
        f"{SENDING}::test_a_worker_that_died_while_sending_leaves_an_unknown_delivery",
    ),
    guard(
        "a letter whose answer was lost is not sent again",
        PIPELINE,
        "    if delivery.channel_kind in channels.REPEATABLE:\n",
        "    if True:\n",
        f"{SENDING}::test_a_letter_that_may_have_arrived_is_reported_as_unknown_and_not_repeated",
    ),
    guard(
        "a cause is told to a person once",
        SCHEMA,
        "    CONSTRAINT event_once UNIQUE NULLS NOT DISTINCT (person_id, cause)",
        "    CONSTRAINT event_once UNIQUE (id, cause)",
        f"{CAUSES}::test_two_transactions_with_the_same_cause_write_one_event",
    ),
    guard(
        "matches are told to their owner",
        SCHEMA,
        """      FROM added JOIN matching.profile ON profile.id = profile_id
      JOIN notification.recipient ON recipient.person_id IS NOT DISTINCT FROM owner_id
     WHERE role IN""",
        """      FROM added JOIN matching.profile ON profile.id = profile_id
      JOIN notification.recipient ON true
     WHERE role IN""",
        f"{CAUSES}::test_matches_are_told_to_their_owner_only",
    ),
    guard(
        "a digest that is on its way takes no more events",
        DELIVERIES,
        "         WHERE channel_id = %s AND key = %s AND state = 'waiting' FOR UPDATE\n",
        "         WHERE channel_id = %s AND key = %s FOR UPDATE\n",
        f"{PLANNING}::test_digests_collect_events_until_they_are_sent",
    ),
    guard(
        "a message is about what its person may see now",
        PIPELINE,
        "        if event.kind in allowed and _still_matters(event, summaries)\n",
        "        if _still_matters(event, summaries)\n",
        f"{PLANNING}::test_a_role_that_lost_its_rights_is_told_nothing_more",
    ),
    guard(
        "an account cannot send mail to other addresses",
        CHANNELS,
        "    if address:\n",
        "    if False:\n",
        f"{PAGE}::test_channels_are_added_once_tested_switched_and_removed",
    ),
    guard(
        "opening an unsubscribe link only asks",
        "jobmill/web/pages/notifications/unsubscribe_page.py",
        "        channel = await _find_channel(tx, token)\n    return _render(view, channel, token)\n\n\n@router.post",
        "        channel = await _find_channel(tx, token)\n        if channel:\n"
        "            channel = await channels.set_enabled(tx, channel.id, False)\n"
        "    return _render(view, channel, token)\n\n\n@router.post",
        f"{PAGE}::test_one_click_unsubscribes_without_a_sign_in_and_opening_the_link_does_not",
    ),
]
