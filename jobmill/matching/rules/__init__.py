"""The rules by which listings and companies are judged: pure, and explained."""
