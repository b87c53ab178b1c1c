-- A key with this scope may change its owner's job search and nothing else.
ALTER TYPE people.scope ADD VALUE 'search' AFTER 'read';
