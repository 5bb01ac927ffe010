What do you say?
* Hello!
  "Hello yourself."
* Good bye!
  "So soon?"
- You nod.
