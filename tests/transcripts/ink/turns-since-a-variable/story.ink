-> a
=== a
* [On] -> check(-> a)
=== check(-> where)
{TURNS_SINCE(where)} {READ_COUNT(where)}
-> END
