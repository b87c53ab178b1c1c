"""What the company does with an opening, and the lists that show it."""
