"""Generates the pages of docs/reference that come from code: python -m scripts.reference"""

from __future__ import annotations

from pathlib import Path

from jobmill.settings import PREFIX, Settings, describe_allowed

SETTINGS = Path("docs/reference/settings.md")

INTRO = """\
# Settings

Jobmill looks for each setting in three places: its environment variable, the file `jobmill.yaml`, and
its default. The first one that has a value counts; an empty variable counts as not set. Admins can also
save some settings on the Settings page: these apply where neither the variable nor the file has a value.
`jobmill config show` prints the values of the environment and the file and where each comes from,
`jobmill config stored` those that an admin saved.

The file is the one that `JOBMILL_CONFIG` names, otherwise the one in the current folder, otherwise the
one in your configuration folder; `jobmill config path` shows which. Relative paths in the file are
relative to its folder. An unknown name or an invalid value is an error.

Jobmill reads a file only if it and its folder belong to you or to root and no other user may write to
them. A file in the current folder cannot set `postgres_bin` or `chromium`, which name programs to run.

`JOBMILL_DEBUG=1` is not a setting: it adds a traceback to every error. `make fmt` generates this page
from `jobmill/settings.py`.

```yaml
# jobmill.yaml
web_port: 8080
processors: 20
processors_by_phase:
  company/extract: 4       # as a variable: JOBMILL_PROCESSORS_BY_PHASE=company/extract=4,listing/ask=2
start_rate_by_phase:
  company/fetch: 3/5s      # at most three starts every five seconds
```

| setting | variable | accepts | default | meaning |
|---|---|---|---|---|
"""


def settings_page() -> str:
    return INTRO + "".join(_line(name) for name in Settings.model_fields)


def _line(name: str) -> str:
    field = Settings.model_fields[name]
    # The default data folder depends on the machine, so describe it in words.
    folder = "the user's data folder for `jobmill`"
    default = folder if field.default_factory and name == "data_dir" else _default(field.default)
    meaning = " ".join((field.description or "").split())
    return f"| `{name}` | `{PREFIX}{name.upper()}` | {describe_allowed(name)} | {default} | {meaning} |\n"


def _default(value: object) -> str:
    if isinstance(value, bool):
        return "`true`" if value else "`false`"
    return f"`{value}`" if isinstance(value, int | float | str) and value != "" else "empty"


if __name__ == "__main__":
    SETTINGS.parent.mkdir(parents=True, exist_ok=True)
    SETTINGS.write_text(settings_page(), encoding="utf-8")
