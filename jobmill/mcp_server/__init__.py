"""A Model Context Protocol server: assistants use Jobmill through its HTTP API, with the rights of a key.

Needs the extra `jobmill[mcp]`; nothing else of Jobmill imports it.
"""
