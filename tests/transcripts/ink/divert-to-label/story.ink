-> hall.table
=== hall
- (door) You stand at the door.
-> DONE
- (table) You stand at the table.
{door: You came by the door.|You did not come by the door.}
-> door
