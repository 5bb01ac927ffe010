-> house.hall
=== house
= hall
- (rug) A rug.
{house.hall} {rug} {house.hall.rug} {house.cellar}
{rug < 2: -> rug}
-> cellar
= cellar
{house.cellar} {hall.rug}
-> END
