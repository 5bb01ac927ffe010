-> sleep(-> wake)
=== sleep(-> after)
You sleep.
-> after
=== wake
You wake.
-> END
