"""Tell whether one element comes right after another."""

from __future__ import annotations

from selectolax.lexbor import LexborNode


def is_right_after(label: LexborNode, value: LexborNode) -> bool:
    """Whether the value's block is the label's own block, or inside the element right after it."""
    if label.mem_id == value.mem_id:
        return True
    node: LexborNode | None = label
    for level in range(6):
        beside = next_element(node) if node else None
        if beside:
            return _is_inside(value, beside) or _is_after_gap(beside, value)
        # Further up, the parent of the label must contain nothing before it.
        if node is None or (level >= 2 and _previous_element(node)):
            return False
        node = node.parent
    return False


def _is_after_gap(gap: LexborNode, value: LexborNode) -> bool:
    """Whether the value is in the cell after an empty one that only adds space."""
    if gap.tag != "td" or gap.text().strip() not in ("", ":"):
        return False
    beside = next_element(gap)
    return beside is not None and _is_inside(value, beside)


def next_element(node: LexborNode) -> LexborNode | None:
    """The next element, skipping text and comments."""
    following = node.next
    for _ in range(6):
        if following is None or not (following.tag or "-").startswith("-"):
            return following
        following = following.next
    return None


def _previous_element(node: LexborNode) -> LexborNode | None:
    before = node.prev
    while before is not None and (before.tag or "-").startswith("-"):
        before = before.prev
    return before


def _is_inside(node: LexborNode, outer: LexborNode) -> bool:
    inner: LexborNode | None = node
    for _ in range(8):
        if inner is None:
            return False
        if inner.mem_id == outer.mem_id:
            return True
        inner = inner.parent
    return False
