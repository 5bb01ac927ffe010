* "I am somewhat tired[."]," I repeated.
  "Really," he responded.
* "Nothing, Monsieur!"[] I replied.
-
-> END
