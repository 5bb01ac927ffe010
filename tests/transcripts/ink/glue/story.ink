We hurried home <>
-> to_savile_row
=== to_savile_row
to Savile Row
-> as_fast
=== as_fast
<> as fast as we could.
-> END
