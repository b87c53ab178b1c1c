"""Stages of applications that have a slot, which the company defines per opening."""
