CONST LIMIT = 3
CONST WHO = "Anna"
CONST HALF = 0.5
CONST PLACE = -> finish
VAR x = LIMIT
{x} {LIMIT * 2} {WHO} {HALF}
{ x == LIMIT: Reached.}
-> go(PLACE)
=== go(-> where)
-> where
=== finish
Finished.
-> END
