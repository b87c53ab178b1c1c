"""What pages call the kinds, frequencies, channels and states of notifications."""

from __future__ import annotations

from collections.abc import Mapping

from jobmill.notifications.channels import ChannelKind
from jobmill.notifications.deliveries import DeliveryState
from jobmill.notifications.kinds import Audience, Frequency, Kind
from jobmill.web.translations import say


def kind_labels() -> Mapping[Kind, tuple[str, str]]:
    """A name and an explanation."""
    return {
        "high_match": (
            say("New high-priority matches"),
            say("A new job fits your profile very well."),
        ),
        "saved_search": (
            say("Saved views"),
            say("A new match belongs to one of your saved views."),
        ),
        "follow_up": (say("Next steps due"), say("A next step of an application is due.")),
        "job_update": (
            say("Jobs you applied to"),
            say("A job closed, reopened or changed after you applied."),
        ),
        "application": (say("New applications"), say("Someone applied to an opening.")),
        "offer": (say("Offers"), say("An offer was accepted or missed.")),
        "review": (
            say("Reviews waiting"),
            say("An application needs a decision, or a note mentions you."),
        ),
        "alert": (say("Alerts"), say("The work queue needs attention.")),
        "source": (say("Failing sources"), say("A source was disabled or put on hold.")),
        "budget": (say("Budget"), say("The daily or monthly model budget is spent.")),
        "backup": (say("Backups"), say("A backup failed.")),
    }


def audience_labels() -> Mapping[Audience, str]:
    return {
        "seekers": say("Job search"),
        "recruiters": say("Hiring"),
        "operators": say("System"),
    }


def frequency_labels() -> Mapping[Frequency, str]:
    return {
        "instant": say("Immediately"),
        "daily": say("Daily digest"),
        "weekly": say("Weekly digest"),
        "off": say("Off"),
    }


def channel_labels() -> Mapping[ChannelKind, str]:
    return {
        "email": say("Email"),
        "webhook": say("Webhook"),
        "ntfy": "ntfy",
        "telegram": "Telegram",
        "slack": "Slack",
        "discord": "Discord",
        "push": say("Browser"),
        "apprise": "Apprise",
        "feed": say("Atom feed"),
    }


def state_labels() -> Mapping[DeliveryState, tuple[str, str]]:
    """A name and the style of its badge."""
    return {
        "waiting": (say("Waiting"), ""),
        "queued": (say("Being sent"), "busy"),
        "sending": (say("Being sent"), "busy"),
        "sent": (say("Delivered"), "good"),
        "dropped": (say("Not sent"), "off"),
        "failed": (say("Failed"), "bad"),
        "unknown": (say("Unknown"), "bad"),
    }


def weekday_labels() -> Mapping[int, str]:
    days = (
        say("Monday"),
        say("Tuesday"),
        say("Wednesday"),
        say("Thursday"),
        say("Friday"),
        say("Saturday"),
        say("Sunday"),
    )
    return dict(enumerate(days, 1))
