"""Plain text: words, sentences, phrases and stems, written once for everyone who compares texts; pure."""
