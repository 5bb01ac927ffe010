-> guarded ->
This is never said.
-> END
=== guarded
The guard sends you away.
->-> prison
=== prison
You are in prison.
-> END
