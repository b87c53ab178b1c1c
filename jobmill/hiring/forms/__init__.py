"""The application form of an opening: its questions, the answers and the files."""
