Look. # seen -> next
=== next
There.
-> END
