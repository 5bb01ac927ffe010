VAR x = 3
Before.
{ x == 3:
    It is three.
}
{ x == 4:
    It is four.
}
After.
