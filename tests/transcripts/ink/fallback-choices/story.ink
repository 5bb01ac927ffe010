-> find
=== find
* [Key] A key. -> find
* [Coin] A coin. -> find
* -> 
  Nothing is left.
-> END
