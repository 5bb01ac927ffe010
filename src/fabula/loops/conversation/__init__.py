"""The conversation loop: a talk with one or more characters until it closes."""
