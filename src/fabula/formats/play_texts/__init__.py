"""A play written down to be read elsewhere: as Markdown, plain text, a web page, a book, or a chat of SillyTavern."""
