"""Which targets to call next: policies as pure objects without clock, network or database."""

from .factory import Policy as Policy
from .factory import create_policy as create_policy
