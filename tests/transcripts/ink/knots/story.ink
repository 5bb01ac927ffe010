-> start
=== start ===
You are at the start.
-> finish
== finish
This is the end.
-> END
