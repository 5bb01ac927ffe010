-> train
=== train ===
= first
The first stitch.
-> second
= second
The second stitch.
-> DONE
