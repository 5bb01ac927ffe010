// Runs before the style sheet and before any module.
//
// 1. The page is never painted on the wrong paper: see app/reading.ts.
// 2. Who opens a play waits for three things, one after the other, unless they are begun here at once: who calls, the
//    play, and the code of the stage. What is asked for here is taken up in protocol/ahead.ts.
(function () {
  try {
    var kept = JSON.parse(localStorage.getItem("fabula.reading") || "{}");
    ["paper", "face", "size", "measure", "leading", "justify", "motion"].forEach(function (name) {
      if (typeof kept[name] === "string" && /^[a-z0-9]{1,12}$/.test(kept[name])) document.documentElement.dataset[name] = kept[name];
    });
  } catch {
    // Storage that cannot be read is no reason to show nothing.
  }

  // The build writes the files of the stage here.
  var STAGE_FILES = [];
  var LINES_AT_FIRST = 240;
  var asked = (window.fabulaAhead = []);
  function ask(method, params, session) {
    var body = { jsonrpc: "2.0", id: "ahead", method: method, params: params };
    if (session) body.session_id = session;
    var headers = { "content-type": "application/json" };
    var answer = fetch("/rpc", { method: "POST", credentials: "same-origin", headers: headers, body: JSON.stringify(body) });
    // Whoever takes it up hears of a failure; nobody else has to.
    answer.catch(function () {});
    asked.push({ method: method, params: JSON.stringify(params), session: session || "", at: Date.now(), answer: answer });
  }

  ask("access.whoami", {});
  var play = /^\/app\/play\/([^/]+)\/?$/.exec(location.pathname);
  if (play === null) return;
  try {
    ask("session.get", { history: LINES_AT_FIRST }, decodeURIComponent(play[1]));
  } catch {
    // An address that cannot be read is no play; the app says so.
  }
  STAGE_FILES.forEach(function (file) {
    var link = document.createElement("link");
    link.rel = /\.css$/.test(file) ? "preload" : "modulepreload";
    if (link.rel === "preload") link.as = "style";
    link.crossOrigin = "";
    link.href = "/" + file;
    document.head.append(link);
  });
})();
