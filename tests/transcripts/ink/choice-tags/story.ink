* Start # both [only # only] inner # after
* [Only # alone]
-
-> END
