VAR x = 1
- Start.
{ x == 1:
    Inside.
}
- After.
* [End] -> END
