"""What the handlers of pages without sign-in need of their request."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from fastapi import Depends, Request

from jobmill.web.dependencies import Db, Render, RequestDatabase, View
from jobmill.web.site_settings import SiteSettings, get_site_settings


@dataclass(frozen=True, slots=True)
class PublicPageRequest:
    request: Request
    db: RequestDatabase
    render: Render

    @property
    def site_settings(self) -> SiteSettings:
        return get_site_settings(self.request)

    def link(self, path: str) -> str:
        """The address of a page of this site, as letters have it."""
        return self.site_settings.link(self.request, path)


# Not `def`: FastAPI would run it in a thread.
async def _public_page(request: Request, db: Db, view: View) -> PublicPageRequest:
    return PublicPageRequest(request, db, view)


PublicPage = Annotated[PublicPageRequest, Depends(_public_page)]
