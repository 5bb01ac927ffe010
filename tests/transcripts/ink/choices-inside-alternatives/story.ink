-> start
=== start
{ stopping:
- First time.
  * [Go on] Going on. -> start
- Second time.
  * [Stop] -> END
}
