-> castle
=== castle
- (opts) What now?
* [Wall] You look at the wall. -> opts
* [Tower] You look at the tower.
  * * [Climb] You climb. -> top
- (top) You are at the top. {opts} visits below.
-> END
