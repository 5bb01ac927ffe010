-> train.second_class
=== train ===
= first_class
Velvet seats.
-> DONE
= second_class
Wooden seats.
-> first_class
