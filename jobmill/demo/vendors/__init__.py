"""How each kind of site shows the world: one module a vendor, in the shapes that vendors really have."""
