-> accuse("Hastings", 2)
=== accuse(who, times)
"It was {who}!" I said {times} times.
{ times > 1: -> accuse(who, times - 1)}
-> END
