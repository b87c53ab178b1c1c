"""jobmill opening: vacancies of our own."""
