Before.
~ temp x = noisy()
After {x}.
=== function noisy()
A noise.
~ return 5
