"""Serves the browser app that the build hook made from web/."""
