I have {count(3)} and {count(1)}.
=== function count(n)
{ n == 1:
    ~ return "one thing"
}
~ return "{n} things"
