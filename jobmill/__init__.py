"""Jobmill: the listings that fit a person, openings filled fairly, one durable work queue."""

import os

# Heeded only before numpy is loaded, hence here. Two threads that wait for each other on a busy machine
# take ten times what one takes; more cores are used by more workers.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
