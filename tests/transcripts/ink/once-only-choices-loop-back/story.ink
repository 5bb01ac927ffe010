-> opts
=== opts
* one
* two
* -> end
- -> opts
= end
All done.
-> END
