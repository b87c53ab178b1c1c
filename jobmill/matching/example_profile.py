"""A profile with every field, for people to start from."""

from importlib import resources

TEXT = (resources.files("jobmill.matching") / "example_profile.yaml").read_text("utf-8")
