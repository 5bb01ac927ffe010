-> a
=== a
{TURNS_SINCE(-> a)} {TURNS_SINCE(-> b)}
* [Next]
- {TURNS_SINCE(-> a)}
-> b
=== b
{TURNS_SINCE(-> a)} {TURNS_SINCE(-> b)}
* [End]
- {TURNS_SINCE(-> b)}
-> END
