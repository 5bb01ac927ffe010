VAR x = 3
{ x > 0:
    Positive.
- else:
    Not positive.
}
{ x > 5:
    Big.
- else:
    Small.
}
{
- x > 5: Big again.
- x > 2: Middling.
- else: Tiny.
}
