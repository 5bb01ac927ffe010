"What's that?" my master asked.
* "I am tired[."]," I said.
* "Nothing[!"]," I said.
- With that he left.
* [Follow] I followed.
* [Stay] I stayed.
- The day went on.
