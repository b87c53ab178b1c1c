"""The staged work this product does; `app.py` lists it."""
