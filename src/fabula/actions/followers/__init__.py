"""What follows a turn: one row is written with it, and becomes a piece of work for each kind of follower."""
