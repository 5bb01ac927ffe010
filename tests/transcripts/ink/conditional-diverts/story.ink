VAR x = 1
-> test
=== test
{x == 1: -> one|-> two}
=== one
One.
~ x = 2
-> test
=== two
Two.
-> END
