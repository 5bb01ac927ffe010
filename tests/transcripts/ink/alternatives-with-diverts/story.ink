-> wait
=== wait
{I waited.|I waited more.|-> leave}
-> wait
=== leave
I left.
-> END
