-> home
=== home
+ [Eat] You eat. -> home
* [Sleep] You sleep. -> home
+ [Leave] -> END
