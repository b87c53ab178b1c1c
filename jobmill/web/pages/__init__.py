"""The pages of the website, one module or package per subject."""
