TODO: write more
Text.
- TODO: and more here
More.
