- (loop)
Visit {loop}.
{loop < 3: -> loop}
{not other: Other was not seen.}
-> other
=== other
{loop > 2 and other == 1: All as it should be.}
-> END
