"""Who may come in: hosts, origins, tokens, roles, limits and security headers.

`guard(app, rules)` stands in front of the whole server, for HTTP and WebSocket alike:

1. the Host must be one under which this server may be addressed (against DNS rebinding),
2. a web page's Origin must be the server's own or a configured one (against cross-site requests),
3. an access token, where one is required, says who is calling; browsers get it as a cookie at `/enter`,
4. nobody may call too often, or have too much open at once,
5. a body may not be larger than its route allows,
6. every answer carries the security headers.
"""

from fabula.actions.care.door_policy import is_loopback, tokens_required
from fabula.server.access.callers import TokenLookup, actor_of
from fabula.server.access.guard import guard
from fabula.server.access.rules import AccessRules, rules_from

__all__ = ["AccessRules", "TokenLookup", "actor_of", "guard", "is_loopback", "rules_from", "tokens_required"]
