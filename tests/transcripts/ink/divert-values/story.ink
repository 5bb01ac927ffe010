VAR next = -> day
-> go
=== go
-> next
=== day
Day.
~ next = -> night
-> go
=== night
Night.
-> END
