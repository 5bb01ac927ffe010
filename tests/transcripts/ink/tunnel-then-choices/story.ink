-> rest ->
You wake.
* [Get up]
  You get up.
-> END
=== rest
* [Sleep] You sleep.
* [Doze] You doze.
- ->->
