VAR who = "Anna"
VAR seen = 1
* Ask {who}[ ({seen} time{seen != 1:s})] politely.
* {who == "Anna"} \ {who} is first[.]!
- -> END
