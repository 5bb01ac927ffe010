Once upon a time.
   Leading spaces are not kept.

Empty lines neither.
