* [Open the door]
  The door creaks.
* [Wait]
  Time goes by.
- -> END
