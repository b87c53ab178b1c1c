"""The HTTP request that delivers a message to each kind of channel. Pure functions."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from jobmill.errors import Invalid
from jobmill.notifications import web_push
from jobmill.notifications.channels import ChannelConfig
from jobmill.notifications.deliveries import OutgoingNotification
from jobmill.notifications.messages import Message, render_text
from jobmill.outside.webhook import sign

MAX_LENGTHS = {"telegram": 4_000, "discord": 1_900, "ntfy": 3_500, "slack": 10_000}
"""What each service takes, less a margin for its own marks."""
SLACK_ESCAPES = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;"})


@dataclass(frozen=True, slots=True)
class ChannelRequest:
    url: str = field(repr=False)
    headers: Sequence[tuple[str, str]] = field(repr=False)
    body: bytes = field(repr=False)


def build_request(
    delivery: OutgoingNotification,
    config: ChannelConfig,
    message: Message,
    base_url: str,
    push_key: bytes | None = None,
) -> ChannelRequest:
    """Invalid for a kind of channel that takes no such request. `push_key` signs requests to the push
    services of browsers."""
    match delivery.channel_kind:
        case "webhook":
            return _webhook(delivery, config, message, base_url)
        case "ntfy":
            parts = urlsplit(config["url"])
            content = {
                "topic": parts.path.removeprefix("/"),
                "title": message.subject,
                "message": _text("ntfy", message, base_url),
                "click": _link(message, base_url),
            }
            token = config.get("token")
            headers = [("Authorization", f"Bearer {token}")] if token else []
            return _json(f"{parts.scheme}://{parts.netloc}/", content, headers)
        case "telegram":
            url = f"https://api.telegram.org/bot{config['token']}/sendMessage"
            text = f"{message.subject}\n\n{_text('telegram', message, base_url)}"
            preview = {"is_disabled": True}
            return _json(
                url, {"chat_id": config["chat"], "text": text, "link_preview_options": preview}
            )
        case "slack":
            text = f"{message.subject}\n\n{_text('slack', message, base_url)}"
            return _json(config["url"], {"text": text.translate(SLACK_ESCAPES)})
        case "discord":
            text = f"{message.subject}\n\n{_text('discord', message, base_url)}"
            # A job title such as @everyone must not ring for a whole server.
            return _json(config["url"], {"content": text, "allowed_mentions": {"parse": []}})
        case "push" if push_key:
            return _push(delivery, config, message, base_url, push_key)
        case _:
            raise Invalid(f"A {delivery.channel_kind} channel takes no web request.")


def _webhook(
    delivery: OutgoingNotification, config: ChannelConfig, message: Message, base_url: str
) -> ChannelRequest:
    """Signed like the webhooks of openings; the id is the same for every attempt."""
    content = {
        "id": delivery.id,
        "frequency": delivery.frequency,
        "subject": message.subject,
        "events": [
            {
                "kind": line.kind,
                "title": line.title,
                "detail": line.detail,
                "url": base_url + line.path,
            }
            for line in message.lines
        ],
        "leftOut": message.left_out,
    }
    body = json.dumps(content, ensure_ascii=False).encode()
    timestamp = int(delivery.at.timestamp())
    headers = [
        ("Content-Type", "application/json"),
        ("Jobmill-Event", "notification"),
        ("Jobmill-Delivery", f"notification-{delivery.id}"),
        ("Jobmill-Timestamp", str(timestamp)),
        ("Jobmill-Signature", sign(config["secret"], timestamp, body)),
    ]
    return ChannelRequest(config["url"], headers, body)


def _push(
    delivery: OutgoingNotification,
    config: ChannelConfig,
    message: Message,
    base_url: str,
    push_key: bytes,
) -> ChannelRequest:
    topic = f"notification-{delivery.id}"
    # At most 2,800 bytes of text: push services need not take more than 4,096 in all.
    content = {
        "title": message.subject[:200],
        "body": "\n".join(line.title for line in message.lines)[:500],
        "url": _link(message, base_url),
        "tag": topic,
    }
    endpoint = config["endpoint"]
    text = json.dumps(content, ensure_ascii=False)
    body = web_push.encrypt(text.encode(), config["p256dh"], config["auth"])
    headers = web_push.make_headers(endpoint, push_key, base_url, topic, delivery.at)
    return ChannelRequest(endpoint, headers, body)


def _json(
    url: str, content: dict[str, Any], headers: Sequence[tuple[str, str]] = ()
) -> ChannelRequest:
    body = json.dumps(content, ensure_ascii=False).encode()
    return ChannelRequest(url, [("Content-Type", "application/json"), *headers], body)


def _text(service: str, message: Message, base_url: str) -> str:
    text, limit = render_text(message, base_url), MAX_LENGTHS[service]
    return text if len(text) <= limit else f"{text[:limit]}…\n{base_url}"


def _link(message: Message, base_url: str) -> str:
    return base_url + (message.lines[0].path if len(message.lines) == 1 else "/")
