{late}
-> knot
=== knot
VAR late = 12
{late + 1}
-> END
