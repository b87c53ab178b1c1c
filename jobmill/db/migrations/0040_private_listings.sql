-- Jobs that exist only because a person imported an application: what a person applied to is private.
ALTER TABLE catalog.listing ADD COLUMN private boolean NOT NULL DEFAULT false;
COMMENT ON COLUMN catalog.listing.private IS 'only people with a match see it, until a source reads it or a person adds it';
CREATE INDEX listing_private ON catalog.listing (id) WHERE private;
