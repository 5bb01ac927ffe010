VAR x = 5
{ x > 3:
    ~ x = 100
    ~ temp y = x + 1
    Now {y}.
- else:
    ~ x = 0
}
{x}
